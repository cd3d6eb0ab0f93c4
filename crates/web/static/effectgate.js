// Effectgate's own script, and the only one. Pages work without it. It does two things:
// parts of a page with data-live are fetched again when the server says that something of their topic changed
// (GET /live, server-sent events that hold topics and no content), and relative times tick.
// It never touches a part in which somebody types or where the focus rests. No eval, no inline handler, no third party.
"use strict";
(() => {
  const PAUSE_MS = 2000;        // at most one look at the page in this time, however much happens
  const TICK_MS = 30000;        // relative times are in minutes
  const ALONE_MS = 30 * 60000;  // without a hand on the page, live updates end: an idle session may end
  const regions = () => document.querySelectorAll("[data-live][id]");
  const news = document.getElementById("live-news");
  const from = document.body.dataset.liveFrom;
  const changed = new Set();
  let source = null, timer = 0, looked = 0, busy = false, touched = Date.now();

  // A field that differs from what the server sent, or that has the focus, makes its part untouchable.
  const isTyped = (field) => {
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") return [...field.options].some((o) => o.selected !== o.defaultSelected);
    return field.type !== "hidden" && field.value !== field.defaultValue;
  };
  const isInUse = (region) => {
    const focused = document.activeElement;
    if (focused && focused !== document.body && region.contains(focused)) return true;
    return [...region.querySelectorAll("input, textarea, select")].some(isTyped);
  };

  const replace = (region, fresh) => {
    if (fresh.isEqualNode(region)) return false;
    const open = new Set([...region.querySelectorAll("details[open][id]")].map((d) => d.id));
    region.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
    for (const details of region.querySelectorAll("details[id]")) if (open.has(details.id)) details.open = true;
    return true;
  };

  const look = async () => {
    timer = 0;
    if (busy || document.hidden) return;
    const due = [...regions()].filter((r) => r.dataset.live.split(" ").some((topic) => changed.has(topic)));
    const free = due.filter((region) => !isInUse(region));
    if (due.length > free.length) later(PAUSE_MS * 5);
    else changed.clear();
    if (!free.length) return;
    busy = true;
    looked = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, credentials: "same-origin", redirect: "error" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      let renewed = 0;
      for (const region of free) {
        const fresh = page.getElementById(region.id);
        if (fresh && !isInUse(region) && replace(region, fresh)) renewed += 1;
      }
      if (renewed) { tick(); say(); }
    } catch { /* the network is away; the next event or a reload shows it */ } finally {
      busy = false;
      if (changed.size) later(PAUSE_MS); // said while this look was under way
    }
  };
  const later = (ms) => { if (!timer) timer = setTimeout(look, ms); };
  const say = () => {
    if (!news) return;
    news.textContent = "";
    setTimeout(() => { news.textContent = news.dataset.said || ""; }, 100);
  };

  const listen = () => {
    if (source || !from || document.hidden || !regions().length || Date.now() - touched > ALONE_MS) return;
    source = new EventSource(from);
    source.addEventListener("open", () => missed());
    source.addEventListener("changed", (event) => {
      if (Date.now() - touched > ALONE_MS) return stop();
      for (const topic of event.data.split(" ")) changed.add(topic);
      later(Math.max(0, looked + PAUSE_MS - Date.now()));
    });
  };
  const stop = () => { if (source) source.close(); source = null; };
  // What changed while nobody listened is not known, so every part is looked at again: on the way back, and whenever the
  // stream begins (first: what happened between the page and its stream; later: while the connection was away).
  const missed = () => {
    for (const region of regions()) for (const topic of region.dataset.live.split(" ")) changed.add(topic);
    later(Math.max(0, looked + PAUSE_MS - Date.now()));
  };
  const back = () => {
    if (source || document.hidden) return;
    missed();
    listen();
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : back()));
  for (const kind of ["pointerdown", "keydown"]) {
    document.addEventListener(kind, () => {
      const wasAlone = Date.now() - touched > ALONE_MS;
      touched = Date.now();
      if (wasAlone) { stop(); back(); }
    }, { passive: true });
  }
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) back(); });

  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { style: "short" });
  const tick = () => {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const seconds = Math.round((Date.parse(time.dateTime) - Date.now()) / 1000);
      const [unit, size] = UNITS.find(([, s]) => Math.abs(seconds) >= s) || UNITS[2];
      if (!Number.isNaN(seconds)) time.textContent = words.format(Math.trunc(seconds / size), unit);
    }
  };
  if (document.querySelector("time[data-relative]")) setInterval(tick, TICK_MS);
  listen();
})();
