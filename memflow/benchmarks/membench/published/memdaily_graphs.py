"""MemDaily's user graphs: conversion of graphs.json to profiles and entities.

Attribute names are those of generated graphs. The published files do not state which trajectory belongs to which user.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.published.questions import PublishedModel
from memflow.benchmarks.published_file import File, Said, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.records import Entity, Profile, Record

NAME = "graphs.json"
START = "2024-04-01"
"""The first day of all trajectories."""
_ID = "graph"
_ROLE = {
    "性别": "gender",
    "年龄": "age",
    "身高": "height",
    "生日": "birthday",
    "家乡": "hometown",
    "工作地": "work_location",
    "教育背景": "education",
    "职业": "occupation",
    "职位": "position",
    "单位名称": "company",
    "兴趣爱好": "hobby",
    "性格": "character",
    "联系电话": "phone",
    "邮箱地址": "email",
    "身份证号码": "id_number",
    "护照号码": "passport",
    "银行卡号码": "bank_account",
    "驾驶证号码": "driver_licence",
}
_EVENT = {
    "事件类型": "event_type",
    "主要内容": "content",
    "地点": "location",
    "时间": "time",
    "规模": "scale",
    "持续时间": "duration",
}
_ITEM = {"物品类型": "item_type", "物品评价": "review"}
_PLACE = {"地点类型": "place_type", "地点评价": "review"}
_LISTS = (
    ("relation_profiles", "relative", "姓名", _ROLE),
    ("colleague_profiles", "colleague", "姓名", _ROLE),
    ("work_events", "work_event", "事件名称", _EVENT),
    ("rest_events", "rest_event", "事件名称", _EVENT),
    ("items", "item", "物品名称", _ITEM),
    ("places", "place", "地点名称", _PLACE),
)
"""List key, entity kind, key of the name, and attribute names by published key."""
_PERSONAL = ("phone", "email", "id_number", "passport", "bank_account", "driver_licence")
_RELATIONSHIP = "关系"

Attributes = dict[str, Said]


class _Graph(PublishedModel):
    gid: int
    user_profile: Attributes
    relation_profiles: list[Attributes]
    colleague_profiles: list[Attributes]
    work_events: list[Attributes]
    rest_events: list[Attributes]
    items: list[Attributes]
    places: list[Attributes]


def read(file: File) -> Iterator[RawRecord]:
    """Yield each graph in the file. Raises BadInput."""
    return parse_records(file.json_items("graph"), _parse)


def _parse(content: Any) -> tuple[str, Any]:
    graph = _Graph.model_validate(content)
    for part, key, published in (("user_profile", "姓名", graph.user_profile), *_named(graph)):
        if key not in published:
            raise RecordFault(f"{part} lacks the field {key}, which contains the name")
    return f"{_ID}/{graph.gid}", content


def states_of(domain: str, records: Sequence[Record]) -> States:
    """Return the users and entities of the graphs in `records`, or empty tables if `records` has no graphs."""
    graphs = {
        f"{record.dataset}-{graph.gid}": graph
        for record in valid_records(records)
        if record.record_id.startswith(f"{_ID}/")
        for graph in [_Graph.model_validate_json(record.content)]
    }
    return States(
        [_profile(domain, user_id, graph) for user_id, graph in graphs.items()],
        entities=[each for user_id, graph in graphs.items() for each in _entities(domain, user_id, graph)],
    )


def _named(graph: _Graph) -> Iterator[tuple[str, str, Attributes]]:
    for part, _, key, _ in _LISTS:
        yield from ((part, key, published) for published in getattr(graph, part))


def _profile(domain: str, user_id: str, graph: _Graph) -> Profile:
    told = "；".join(f"{key}：{value}" for key, value in graph.user_profile.items() if key != _RELATIONSHIP)
    return Profile(
        domain=domain, user_id=user_id, name=graph.user_profile["姓名"], profile=told, start_date=START
    )


def _entities(domain: str, user_id: str, graph: _Graph) -> Iterator[Entity]:
    yield _entity(domain, user_id, "self", 0, graph.user_profile["姓名"], graph.user_profile, _ROLE)
    for part, kind, key, names in _LISTS:
        for number, published in enumerate(getattr(graph, part)):
            yield _entity(domain, user_id, kind, number, published[key], published, names)


def _entity(
    domain: str, user_id: str, kind: str, number: int, name: str, published: Attributes, names: dict[str, str]
) -> Entity:
    attributes = {english: published[key] for key, english in names.items() if key in published}
    return Entity(
        domain=domain,
        user_id=user_id,
        entity_id=f"{user_id}/{kind}-{number}",
        kind=kind,
        name=name,
        relationship=published.get(_RELATIONSHIP, "参加"),
        attributes=json.dumps(attributes, ensure_ascii=False),
        synthetic=[each for each in _PERSONAL if each in attributes],
    )
