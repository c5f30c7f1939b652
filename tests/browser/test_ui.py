"""Pages of the UI, and a backfill started there. MEMFLOW_SCREENSHOTS=docs/img saves screenshots."""

import re

import pytest
from selenium.webdriver.common.by import By
from served import Served, wait

from memflow.records import TABLES, columns
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.partition_scores import published_primary_scores
from memflow.resources.settings.settings import load

pytestmark = pytest.mark.browser

DOMAINS = ("amemgym_demo", "memorybench_demo")
GROUPS = ("answer", "feedback", "memory", "model", "question", "raw", "score", "state", "utterance")
SLOW = "none@slow"
"""The assistant of conftest.py whose model takes a second for each answer."""
TABLE = "answer.replies"
CHECKED = "question.probes"
CHANGED = "window"
"""The assistant of conftest.py that was evaluated several times, each time with another parameter."""


def test_asset_graph_page_shows_every_table(page) -> None:
    page.open("/asset-groups")
    page.driver.execute_script("localStorage.setItem('asset-graph-direction', '\"vertical\"')")
    expanded = "%2C".join(f"global%40global%3A{group}" for group in GROUPS)
    page.open(f"/asset-groups?expanded={expanded}", 1700, 1560)
    page.reads("Global asset lineage", *(table.partition(".")[2] for table in TABLES))
    page.open("/asset-groups", 1400, 1000)
    page.reads("Global asset lineage", *GROUPS)
    page.picture("lineage", (542, 180, 1350, 930), pause=3)  # the graph moves into its place


def test_asset_page_shows_table_columns_metadata_and_checks(page) -> None:
    page.open(f"/assets/{TABLE.replace('.', '/')}", 1500, 2100)
    page.reads((TABLES[TABLE].__doc__ or "").strip(), "Columns", *(column.name for column in columns(TABLE)))
    page.reads("dagster/partition_row_count", "preview", "quarantined", "prompt_tokens")
    page.picture("asset")
    page.open(f"/assets/{CHECKED.replace('.', '/')}?view=checks", 1500, 1650)
    page.reads("Checks (2)")
    page.find("//*[text()='warning_rules']").click()
    page.reads("Succeeded", "unexpected", "gold_option_positions_balanced")
    page.find("//*[text()='blocking_rules']").click()
    page.reads("Succeeded", "unexpected", "gold_not_blank")


def test_leaderboard_asset_previews_primary_scores_of_every_domain_best_first(page, settings_file) -> None:
    settings = load(settings_file)
    scores = published_primary_scores(settings, Lake(settings.lake_root))
    page.open("/assets/score/leaderboard", 1900, 1100)
    page.show_markdown()
    shown_values = [f"{score.value:.3f}" for score in scores if score.value is not None]
    page.reads(*DOMAINS, *shown_values, "Label: scripted, not a language model")
    shown = page.driver.find_element("tag name", "body").text
    ranked = re.findall(r"^[\d–]+ ([a-z0-9_]+) \d", shown, re.MULTILINE)
    accuracy = {each.assistant: each.value or 0 for each in scores if each.metric == "accuracy"}
    assert ranked[: len(accuracy)] == sorted(accuracy, key=lambda name: (-accuracy[name], name))


def test_health_partition_has_scores_with_interval_and_a_plot_over_time(page, settings_file) -> None:
    settings = load(settings_file)
    score = next(
        each
        for each in published_primary_scores(settings, Lake(settings.lake_root))
        if (each.domain, each.assistant, each.metric) == (DOMAINS[0], CHANGED, "accuracy")
    )
    page.open(f"/assets/score/health?view=partitions&partition={CHANGED}%7C{DOMAINS[0]}", 1500, 1400)
    page.reads(
        "accuracy", "accuracy low", "accuracy high", *(f"{end:g}"[:6] for end in (score.value, score.low))
    )
    page.open("/assets/score/health", 1500, 1000)
    page.press("Plots")
    page.press("Events")
    page.reads("accuracy", "accuracy low", "accuracy high")


def test_timeline_and_job_page_list_runs_of_the_command_line(page) -> None:
    page.open("/overview/activity/timeline", 1500, 500)
    page.reads("memflow", "evaluate_memory", "generate_domain", "ingest_datasets", "publish_leaderboard")
    page.picture("timeline")
    page.open("/locations/memflow/jobs/evaluate_memory/runs", 1500, 700)
    page.reads("job:evaluate_memory", f"partition: {CHANGED}|{DOMAINS[0]}")
    page.picture("job")


def test_backfill_of_two_domains_started_in_the_ui_succeeds(page, ui: Served) -> None:
    before = ui.backfills()
    page.open("/locations/memflow/jobs/generate_domain")
    page.press("Materialize all")
    page.find("//*[text()='Select a partition or create one']").click()
    for name in DOMAINS:
        page.find(f"//*[@role='menuitem'][.//text()='{name}']").click()
    page.find("//*[contains(text(), 'Launch runs to materialize')]").click()  # closes the list
    page.press("Launch backfill")

    (backfill,) = wait("a backfill", lambda: set(ui.backfills()) - set(before))
    assert ui.ended(backfill) == dict.fromkeys(DOMAINS, "SUCCESS")
    page.open(f"/runs/b/{backfill}?tab=runs", 1500, 640)
    page.reads("Succeeded", *(f"partition: {name}" for name in DOMAINS))
    page.picture("backfill")
    run = next(run["runId"] for run in ui.runs() if run["tags"].get("dagster/backfill") == backfill)
    page.open(f"/runs/{run}", 1800, 1200)
    page.reads("RUN_SUCCESS")


def test_launchpad_refuses_fields_of_resources_and_starts_a_run(page, ui: Served) -> None:
    page.open("/locations/memflow/jobs/publish_leaderboard", 1500, 1000)
    page.find("//button[contains(., 'Materialize all')]/following::button[1]").click()
    page.find("//*[contains(text(), 'Open launchpad')]").click()
    start = "(//button[contains(., 'Materialize')])[last()][not(@disabled)]"
    page.reads("Launchpad", "No errors")
    page.find(start)  # the answer to the first check; it would replace the answer to a later one
    write = "[...document.querySelectorAll('.CodeMirror')].at(-1).CodeMirror.setValue(arguments[0])"
    page.driver.execute_script(write, "resources:\n  models:\n    config:\n      memories: {}\n")
    page.reads('Received unexpected config entry "config" at path root:resources:models')
    assert page.driver.find_elements(By.XPATH, start) == []
    page.driver.execute_script(write, "loggers:\n  console:\n    config:\n      log_level: INFO\n")
    page.reads("No errors")
    before = ui.runs()
    page.find(start).click()
    wait("a run of the launchpad", lambda: len(ui.runs()) == len(before) + 1)
    wait("its end", lambda: ui.runs()[0]["status"] == "SUCCESS", progress=ui.progress)
    page.reads("RUN_SUCCESS")


def test_run_page_updates_step_counts_without_reload_during_a_run(page, ui: Served) -> None:
    partition = f"{SLOW}|{DOMAINS[0]}"
    backfill = ui.backfill("evaluate_memory", [partition])

    def find_run() -> dict[str, str] | None:
        return next((run for run in ui.runs() if run["tags"].get("dagster/backfill") == backfill), None)

    def succeeded_steps() -> int:
        """Return the number of succeeded steps that the page shows."""
        shown = page.driver.find_element("tag name", "body").text
        return int((re.findall(r"Succeeded \((\d+)\)", shown) or ["0"])[-1])

    run = wait("the run of the backfill", find_run)["runId"]
    page.open(f"/runs/{run}", 1800, 1200)
    page.driver.execute_script("window.openedOnce = true")
    first = wait("the first steps", succeeded_steps, 120)
    assert find_run()["status"] in ("STARTING", "STARTED"), (
        "the page shows events while the run is in progress"
    )
    assert ui.ended(backfill) == {partition: "SUCCESS"}
    page.reads("No steps are executing", "No steps are waiting to execute")
    assert succeeded_steps() > first
    assert page.driver.execute_script("return window.openedOnce"), "the page was not loaded again"
