"use strict";
// The annotation page: shows a sheet unit by unit, keeps labels in this browser, saves them to a file and loads them.
// Every text of the sheet is written with textContent: data is never markup.
(() => {
  const at = (id) => document.getElementById(id);
  const sheet = JSON.parse(at("sheet").textContent);
  const head = sheet.header;
  const order = sheet.units.flatMap((unit, place) => unit.items.map((item) => ({ unit: place, item })));
  const byId = new Map(order.map((each) => [each.item.id, each]));
  const KEYS = "1234567890";
  const LONG = 48; // characters of a label above which labels stand one below the other
  const FORMAT = "memflow annotations 1";
  const LONGEST = 2000;

  let who = "";
  let kept = { labels: {}, comments: {}, place: 0 };
  let here = 0; // the active item, as a place in `order`
  let told = false; // whether the guide has closed of itself

  function make(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // --- what is kept in this browser ---------------------------------------------------------------------------

  const keyOf = (name) => `memflow annotation ${head.digest} ${name}`;

  function remember(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {
      problem("This browser keeps nothing for pages from disk: save your labels to a file before you close the page.");
    }
  }

  function recall(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  function keep() {
    kept.place = here;
    remember(keyOf(who), JSON.stringify(kept));
  }

  // Only what this sheet knows is taken over, whatever the browser kept.
  function known(found) {
    const labels = {};
    const comments = {};
    for (const [id, name] of Object.entries(found?.labels ?? {})) {
      if (byId.get(id)?.item.labels.some((label) => label.name === name)) labels[id] = name;
    }
    for (const [id, text] of Object.entries(found?.comments ?? {})) {
      if (byId.has(id) && typeof text === "string") comments[id] = text.slice(0, LONGEST);
    }
    const place = Number.isInteger(found?.place) && order[found.place] ? found.place : 0;
    return { labels, comments, place };
  }

  function begin(name) {
    who = name;
    let found = null;
    try {
      found = JSON.parse(recall(keyOf(name)) ?? "null");
    } catch {
      problem("What this browser had kept under that name could not be read, and is left out.");
    }
    kept = known(found);
    here = kept.place;
    remember("memflow annotator", name);
    at("who").textContent = name;
    at("who").hidden = false;
    at("guide").open = count() === 0;
    draw();
  }

  // --- what is shown ------------------------------------------------------------------------------------------

  function problem(text) {
    at("problem").textContent = text;
    at("problem").hidden = !text;
  }

  const count = () => Object.keys(kept.labels).length;

  function drawState() {
    const labelled = count();
    at("progress").max = order.length;
    at("progress").value = labelled;
    at("count").textContent = `${labelled} of ${order.length} labelled`;
    at("save").replaceChildren(make("kbd", { textContent: "s" }), ` Save ${labelled} ${labelled === 1 ? "label" : "labels"}`);
    at("save").disabled = labelled === 0;
    at("open").disabled = labelled === order.length;
    at("place").textContent = `${order[here].unit + 1} of ${sheet.units.length} ${head.units}`;
    at("before").disabled = order[here].unit === 0;
    at("after").disabled = order[here].unit === sheet.units.length - 1;
  }

  function draw() {
    const unit = sheet.units[order[here].unit];
    at("shown").lang = unit.language;
    at("shown").replaceChildren(
      ...unit.shown.map((part) =>
        make(
          "article",
          { className: "part" },
          make("h2", { textContent: part.title, lang: "en" }),
          make("p", { className: "text", textContent: part.text, dir: "auto" }),
        ),
      ),
    );
    at("shown").scrollTop = 0;
    // A question that all items share is read once above them; each keeps it as its name.
    const shared = unit.items.length > 1 && unit.items.every((item) => item.asks === unit.items[0].asks);
    const question = shared ? [make("h2", { className: "question", textContent: unit.items[0].asks })] : [];
    at("items").replaceChildren(...question, ...unit.items.map((item) => drawItem(item, unit.language, shared)));
    drawState();
    point(false);
  }

  function drawItem(item, language, shared) {
    const legend = make("legend", { textContent: item.asks, className: shared ? "unseen" : "" });
    const group = make("fieldset", { tabIndex: -1 }, legend);
    group.dataset.item = item.id;
    if (item.facts.length) {
      const facts = make("dl", { lang: language });
      item.facts.forEach((fact, place) => {
        const lead = place === 0 ? "lead" : "";
        facts.append(
          make("dt", { textContent: fact.title, className: lead }),
          make("dd", { textContent: fact.text, className: lead, dir: "auto" }),
        );
      });
      group.append(facts);
    }
    const long = item.labels.some((label) => label.says.length > LONG);
    const width = item.labels.reduce((sum, label) => sum + label.says.length, 0);
    if (item.facts.length === 1 && width <= LONG) group.className = "one";
    const labels = make("div", { className: long ? "labels long" : "labels" });
    item.labels.forEach((label, place) => {
      const radio = make("input", {
        type: "radio",
        name: `item ${item.id}`,
        value: label.name,
        checked: kept.labels[item.id] === label.name,
      });
      radio.addEventListener("change", () => choose(item.id, label.name));
      const said = make("span", { textContent: label.says, dir: "auto", lang: label.value === null ? language : "en" });
      const key = place < KEYS.length ? [make("kbd", { textContent: KEYS[place], ariaHidden: "true" })] : [];
      labels.append(make("label", {}, radio, ...key, said));
    });
    const comment = make("textarea", {
      rows: 1,
      maxLength: LONGEST,
      placeholder: "Comment, if you have one",
      value: kept.comments[item.id] ?? "",
      hidden: !kept.comments[item.id],
    });
    comment.setAttribute("aria-label", "Comment");
    comment.addEventListener("input", () => {
      if (comment.value.trim()) kept.comments[item.id] = comment.value;
      else delete kept.comments[item.id];
      keep();
    });
    const write = make("button", { type: "button", className: "write", textContent: "Comment" });
    write.addEventListener("click", () => {
      comment.hidden = false;
      comment.focus();
    });
    labels.append(write);
    group.append(labels, comment);
    group.addEventListener("focusin", () => {
      const place = order.findIndex((each) => each.item.id === item.id);
      if (place !== here) {
        here = place;
        point(false);
        keep();
      }
    });
    return group;
  }

  const groups = () => [...at("items").querySelectorAll("fieldset")];
  const groupOf = (id) => groups().find((each) => each.dataset.item === id);

  // Mark the active item; with `move`, bring it before the reader as well.
  function point(move) {
    for (const group of groups()) group.removeAttribute("aria-current");
    const group = groupOf(order[here].item.id);
    group.setAttribute("aria-current", "true");
    if (move) {
      group.focus({ preventScroll: true });
      group.scrollIntoView({ block: "nearest" });
    }
  }

  // --- what can be done ---------------------------------------------------------------------------------------

  function go(place) {
    if (place < 0 || place >= order.length) return;
    const turned = order[place].unit !== order[here].unit;
    if (turned && !told) at("guide").open = false; // read once; it can be opened again
    told ||= turned;
    here = place;
    if (turned) draw();
    else drawState();
    point(true);
    if (turned) window.scrollTo({ top: 0 });
    keep();
  }

  function goUnit(step) {
    const unit = order[here].unit + step;
    const place = order.findIndex((each) => each.unit === unit);
    if (place >= 0) go(place);
  }

  function goOpen() {
    for (let step = 1; step <= order.length; step += 1) {
      const place = (here + step) % order.length;
      if (!(order[place].item.id in kept.labels)) return go(place);
    }
  }

  function choose(id, name) {
    if (name === null) delete kept.labels[id];
    else kept.labels[id] = name;
    for (const radio of groupOf(id)?.querySelectorAll("input[type=radio]") ?? []) radio.checked = radio.value === name;
    keep();
    drawState();
  }

  function save() {
    if (!count()) return;
    const rows = [{ format: FORMAT, items: head.digest, annotator: who }];
    for (const { item } of order) {
      if (item.id in kept.labels) {
        rows.push({ item: item.id, label: kept.labels[item.id], comment: kept.comments[item.id] ?? "" });
      }
    }
    const text = rows.map((row) => JSON.stringify(row)).join("\n") + "\n";
    const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    const slug = who.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "somebody";
    make("a", { href: address, download: `annotations-${head.kind}-${slug}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  // The labels of a saved file; throws an Error saying which line cannot be.
  function read(text) {
    const lines = text.replace(/^\uFEFF/, "").split("\n").filter((line) => line.trim());
    const rows = lines.map((line, place) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`line ${place + 1} is not JSON`);
      }
    });
    const first = rows[0] ?? {};
    if (first.format !== FORMAT) throw new Error("it is no file of annotations");
    if (first.items !== head.digest) throw new Error("it annotates another sheet than this page shows");
    const name = String(first.annotator ?? "").trim();
    if (!name || name.length > 64) throw new Error("its header does not say who annotated");
    const found = { labels: {}, comments: {}, place: 0 };
    rows.slice(1).forEach((row, place) => {
      const each = byId.get(row.item);
      if (!each) throw new Error(`line ${place + 2}: this sheet has no item ${row.item}`);
      if (!each.item.labels.some((label) => label.name === row.label)) {
        throw new Error(`line ${place + 2}: ${row.label} is no label of the item ${row.item}`);
      }
      found.labels[row.item] = row.label;
      if (row.comment) found.comments[row.item] = String(row.comment).slice(0, LONGEST);
    });
    return [name, found];
  }

  async function load(file) {
    try {
      const [name, found] = read(await file.text());
      begin(name);
      kept = { labels: { ...kept.labels, ...found.labels }, comments: { ...kept.comments, ...found.comments }, place: here };
      keep();
      draw();
      problem("");
    } catch (wrong) {
      problem(`${file.name} was not loaded: ${wrong.message}.`);
    }
  }

  function ask() {
    at("annotator").value = who || (recall("memflow annotator") ?? "");
    at("hello").showModal();
    at("annotator").select();
  }

  const ACTIONS = {
    j: () => go(here + 1),
    k: () => go(here - 1),
    n: () => goUnit(1),
    p: () => goUnit(-1),
    u: goOpen,
    s: save,
    x: () => choose(order[here].item.id, null),
    c: () => groupOf(order[here].item.id).querySelector("button.write").click(),
    g: () => at("guide").toggleAttribute("open"),
  };

  document.addEventListener("keydown", (pressed) => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing || at("hello").open) return;
    if (pressed.target instanceof HTMLTextAreaElement) {
      if (pressed.key === "Escape") point(true);
      return;
    }
    const { item } = order[here];
    const label = item.labels[KEYS.indexOf(pressed.key)];
    if (pressed.key.length === 1 && label) {
      choose(item.id, label.name);
      go(here + 1);
    } else if (Object.hasOwn(ACTIONS, pressed.key)) {
      ACTIONS[pressed.key]();
    } else {
      return;
    }
    pressed.preventDefault();
  });

  at("title").textContent = head.title;
  const drawn = `${head.drawn} of ${head.population} ${head.units}`;
  at("about").textContent = [head.domain, head.assistant, drawn].filter(Boolean).join(" · ");
  at("told").textContent = head.guide;
  at("note").textContent = head.note ?? "";
  at("note").hidden = !head.note;
  at("before").addEventListener("click", () => goUnit(-1));
  at("after").addEventListener("click", () => goUnit(1));
  at("open").addEventListener("click", goOpen);
  at("save").addEventListener("click", save);
  at("who").addEventListener("click", ask);
  at("load").addEventListener("click", () => at("file").click());
  at("file").addEventListener("change", () => {
    const [file] = at("file").files;
    if (file) load(file);
    at("file").value = "";
  });
  at("hello").addEventListener("cancel", (closing) => {
    if (!who) closing.preventDefault();
  });
  at("named").addEventListener("submit", (sent) => {
    sent.preventDefault();
    const name = at("annotator").value.trim();
    if (!name) return;
    at("hello").close();
    problem("");
    begin(name);
    point(true);
  });
  draw();
  ask();
})();
