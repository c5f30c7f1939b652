"""Check values.yaml against the schemas of a Helm chart: python check_values.py FOLDER/helm/dagster.

The chart's folder comes from `helm pull dagster/dagster --untar` or from a clone of github.com/dagster-io/dagster.
Fields of Kubernetes objects are checked against the definitions of the package kubernetes-validate.
"""

import json
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

HERE = Path(__file__).parent
SUBCHART = "dagster-user-deployments"
DEFINITIONS = "kubernetes-json-schema/v1.35.0-local/_definitions.json"


def merged(default: Any, given: Any) -> Any:
    """Return values with defaults as Helm merges them: tables by key, everything else replaced."""
    if isinstance(default, Mapping) and isinstance(given, Mapping):
        names = {**default, **given}
        return {
            name: merged(default[name], given[name]) if name in default and name in given else names[name]
            for name in names
        }
    return given


def errors(schema: Path, values: Any) -> list[str]:
    """Return a line per value that the schema rejects."""
    definitions = json.loads((files("kubernetes_validate") / DEFINITIONS).read_text(encoding="utf-8"))
    definitions["definitions"] = definitions["$defs"]  # the name in the drafts that Helm reads
    kubernetes = Resource.from_contents(definitions, default_specification=DRAFT7)
    registry: Registry[Any] = Registry(retrieve=lambda _: kubernetes)  # whatever version the chart names
    validator = Draft7Validator(json.loads(schema.read_text(encoding="utf-8")), registry=registry)
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
        for error in validator.iter_errors(values)
    ]


def unknown(default: Any, given: Any, place: str = "") -> list[str]:
    """Return the names of values that the chart's own values.yaml does not have; free tables are not searched."""
    if not (isinstance(default, Mapping) and isinstance(given, Mapping) and default):
        return []
    found: list[str] = []
    for name, value in given.items():
        if name not in default:
            found.append(f"{place}{name}")
        elif not name.endswith("Probe"):  # an object of Kubernetes, of which the chart sets a part
            found += unknown(default[name], value, f"{place}{name}.")
    return found


def main() -> None:
    """Print the errors, and exit with status 1 if there are any."""
    chart = Path(sys.argv[1])
    given = yaml.safe_load((HERE / "values.yaml").read_text(encoding="utf-8"))
    default = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    values = merged(default, given)
    subchart = chart / "charts" / SUBCHART
    sub_default = yaml.safe_load((subchart / "values.yaml").read_text(encoding="utf-8"))
    sub_values = {**merged(sub_default, values[SUBCHART]), "global": values["global"]}
    found = [
        *errors(chart / "values.schema.json", values),
        *errors(subchart / "values.schema.json", sub_values),
    ]
    version = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))["version"]
    print(*found, *(f"not in the chart's values.yaml: {name}" for name in unknown(default, given)), sep="\n")
    print(f"chart {version}: {len(found)} errors")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
