"""MemDaily's user graphs: conversion to profile and entity rows."""

import json
from pathlib import Path
from typing import Any

from membench_files import read

from memflow.benchmarks.membench.published.memdaily_graphs import states_of

SOURCE = "memdaily/graphs.json"
USER = {"性别": "女性", "关系": "self", "姓名": "林一", "年龄": "38岁", "护照号码": "X1", "联系电话": "000"}
AUNT = {"性别": "女性", "关系": "姑姑", "姓名": "林二", "年龄": "61岁"}
FAIR = {"事件类型": "招聘会", "主要内容": "招聘", "地点": "北京", "事件名称": "春季招聘会", "规模": "九百人"}
SHOE = {"关系": "使用", "物品类型": "鞋", "物品名称": "跑鞋", "物品评价": "很好"}
HOME = {"关系": "居住", "地点类型": "小区", "地点名称": "绿园", "地点评价": "安静"}
GRAPH: dict[str, Any] = {
    "gid": 4, "user_profile": USER, "relation_profiles": [AUNT], "colleague_profiles": [], "work_events": [FAIR],
    "rest_events": [], "items": [SHOE], "places": [HOME],
}  # fmt: skip


def test_memdaily_user_graph_becomes_profile_and_entity_rows(tmp_path: Path):
    states = states_of("d", read("memdaily", {SOURCE: [GRAPH]}, tmp_path))
    (profile,) = states.profiles
    assert (profile.user_id, profile.name, profile.start_date) == ("memdaily-4", "林一", "2024-04-01")
    assert profile.profile.startswith("性别：女性；姓名：林一；年龄：38岁")
    assert [(each.kind, each.name, each.relationship, each.synthetic) for each in states.entities] == [
        ("self", "林一", "self", ["phone", "passport"]),
        ("relative", "林二", "姑姑", []),
        ("work_event", "春季招聘会", "参加", []),
        ("item", "跑鞋", "使用", []),
        ("place", "绿园", "居住", []),
    ]
    attributes = {each.kind: json.loads(each.attributes) for each in states.entities}
    assert attributes["relative"] == {"gender": "女性", "age": "61岁"}
    fair = {"event_type": "招聘会", "content": "招聘", "location": "北京", "scale": "九百人"}
    assert attributes["work_event"] == fair
    assert attributes["item"] == {"item_type": "鞋", "review": "很好"}
    assert attributes["place"] == {"place_type": "小区", "review": "安静"}
    assert attributes["self"] == {"gender": "女性", "age": "38岁", "phone": "000", "passport": "X1"}
