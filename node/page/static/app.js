// What the page does beyond its links and buttons: it stays live, tells times in the reader's words, opens the dialog
// in which a person agrees, and asks passkeys. Nothing here decides anything; the node checks it all again.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const header = "X-Parley-Page";

  // Times.
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const tell = (t) => {
    const at = new Date(t.dateTime);
    const seconds = (at - Date.now()) / 1000;
    const unit = units.find(([, length]) => Math.abs(seconds) >= length);
    t.title = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" }); // with its zone
    t.textContent = unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : seconds > 0 ? "in a moment" : "just now";
  };
  const times = (root) => root.querySelectorAll("time").forEach(tell);
  setInterval(() => times(document), 30000);

  // The stream. A browser has few connections to one place, so a hidden window gives its own back.
  let stream = null;
  const live = $("live");
  let path = $("link") && $("link").dataset.live;
  let mark = $("link") && $("link").dataset.mark; // of the view as it stands here
  const state = (word, style) => {
    const mark = $("link").firstElementChild;
    mark.className = "status status-" + style;
    mark.nextElementSibling.textContent = word;
  };
  // sameAs tells what has no id: where it leads and what it says.
  const sameAs = (e) => [e.tagName, e.getAttribute("href"), e.getAttribute("aria-label"), e.textContent].join("|");
  // put lets a place look otherwise; what a person has opened, filled in, scrolled to and chosen there stays.
  const put = (place, html) => {
    const open = [...place.querySelectorAll("details[open]")].map((d) => d.id);
    const edited = [...place.querySelectorAll("input, textarea, select")].filter((i) => i.checked !== i.defaultChecked || i.value !== i.defaultValue);
    const filled = edited.map((i) => [i.id, i.type === "checkbox" ? i.checked : i.value]);
    const at = place.contains(document.activeElement) ? document.activeElement : null;
    const focus = at ? at.id : "";
    const like = at && !focus ? sameAs(at) : "";
    const caret = focus && at.selectionEnd; // null where there is no text
    htmx.swap(place, html, { swapStyle: "innerHTML" });
    open.forEach((id) => $(id) && ($(id).open = true));
    filled.forEach(([id, v]) => $(id) && (typeof v === "boolean" ? ($(id).checked = v) : ($(id).value = v)));
    if (focus && $(focus)) $(focus).focus({ preventScroll: true });
    const again = like && [...place.querySelectorAll("a, summary, [tabindex]")].find((e) => sameAs(e) === like);
    if (again) again.focus({ preventScroll: true });
    if (typeof caret === "number" && $(focus)) $(focus).setSelectionRange(caret, caret);
    times(place);
  };
  // Between the press of a button and its click, nothing is taken away from under it: what comes meanwhile waits. Nor does
  // a drawer open under a key that is still down, and take what the key repeats for presses of its own.
  const presses = (e) => e.key === " " || e.key === "Enter";
  let pressed = false;
  let waits = null;
  const press = (e) => { if (e.type === "pointerdown" || presses(e)) pressed = true; };
  const release = (e) => {
    if ((e.type === "keyup" && !presses(e)) || (e.type === "blur" && e.target !== window)) return;
    setTimeout(() => { // after the click
      pressed = false;
      if (waits !== null) take(waits);
    });
  };
  ["pointerdown", "keydown"].forEach((name) => window.addEventListener(name, press, true));
  ["pointerup", "pointercancel", "keyup", "blur"].forEach((name) => window.addEventListener(name, release, true));
  const take = (html) => {
    waits = pressed ? html : null;
    if (pressed) return;
    put(live, html);
    beside();
    const said = live.querySelector("template[data-say]");
    if (said) {
      if ($("said").textContent !== said.dataset.say) $("said").textContent = said.dataset.say;
      const cards = $("cards");
      cards.textContent = said.dataset.cards;
      cards.classList.toggle("badge-primary", said.dataset.cards !== "0");
      cards.classList.toggle("badge-neutral", said.dataset.cards === "0");
    }
    check();
    count();
  };
  const count = () => { live.dataset.updates = String(Number(live.dataset.updates || 0) + 1); };
  const follow = (to) => { // another view of the same page
    path = to;
    mark = "";
    waits = null;
    if (stream) stream.close();
    stream = null;
    listen();
  };
  const listen = () => {
    if (stream || !path || document.hidden) return;
    stream = new EventSource("/events?view=" + encodeURIComponent(path) + "&have=" + mark);
    const well = (e) => { mark = e.lastEventId; state("live", "success"); ["gone", "full"].forEach((id) => $(id).classList.add("hidden")); };
    stream.addEventListener("view", (e) => { well(e); take(e.data); });
    stream.addEventListener("same", (e) => { well(e); count(); });
    stream.addEventListener("full", () => {
      stream.close();
      stream = null;
      state("not live", "error");
      $("full").classList.remove("hidden");
      setTimeout(listen, 5000);
    });
    stream.addEventListener("error", () => {
      state("not live", "error");
      if (stream.readyState === EventSource.CLOSED) {
        stream = null;
        $("gone").classList.remove("hidden");
        setTimeout(listen, 5000);
      }
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && stream) {
      stream.close();
      stream = null;
    }
    listen();
  });

  // lost: nothing has the focus, since what had it before a dialog opened was replaced. Whoever has gone on keeps it.
  const lost = () => !document.activeElement || document.activeElement === document.body;

  // The drawer: one conflict beside the list, at an address of its own. What is in it comes with the list.
  const drawer = $("drawer");
  const besideOf = (to) => new URL(to, location.origin).searchParams.get("open") || "";
  const withoutDrawer = () => {
    const list = new URL(location.href);
    list.searchParams.delete("open");
    return list.pathname + list.search;
  };
  let last = ""; // the conflict that it showed last
  let quiet = false; // it closes because the address has changed, and not the other way round
  const fold = () => {
    quiet = drawer.open;
    drawer.close();
  };
  const beside = () => {
    const what = live.querySelector("template[data-drawer]");
    if (!what || besideOf(path) !== besideOf(location.href)) {
      if (!what && !besideOf(path)) fold();
      return;
    }
    put($("drawer-box"), what.innerHTML);
    if (drawer.open) return;
    last = besideOf(path);
    drawer.showModal();
    $("drawer-close").focus();
    drawer.scrollTop = 0;
  };
  drawer && drawer.addEventListener("close", () => {
    $("drawer-box").replaceChildren();
    if (!quiet && besideOf(location.href)) {
      if (stream) stream.close(); // what it still brings is of the drawer
      stream = null;
      if (history.state && history.state.drawer) history.back();
      else {
        history.replaceState(null, "", withoutDrawer());
        follow(withoutDrawer());
      }
    }
    quiet = false;
    const link = [...live.querySelectorAll("a[data-drawer]")].find((a) => besideOf(a.href) === last);
    if (lost()) (link || $("main")).focus({ preventScroll: true });
  });
  window.addEventListener("popstate", () => {
    if (!besideOf(location.href)) fold();
    follow(location.pathname + location.search);
  });

  // The dialog.
  const dialog = $("dialog");
  let opener = "";
  const check = () => { // is what the person looks at still asked for?
    const form = $("press");
    if (!form || !form.dataset.key) return;
    const card = [...live.querySelectorAll("[data-key]")].find((c) => c.dataset.key === form.dataset.key);
    const stale = !card || card.dataset.binds !== form.dataset.binds;
    if (path === "/") {
      $("stale").classList.toggle("hidden", !stale);
      form.querySelectorAll("#go, #passkey").forEach((b) => { b.disabled = stale; });
    }
  };
  document.addEventListener("htmx:afterRequest", (e) => {
    if (e.detail.successful && e.detail.elt.matches("[data-clear]")) $(e.detail.elt.id).reset(); // as it stands now
  });
  document.addEventListener("htmx:afterSwap", (e) => {
    if (e.detail.target.id !== "dialog-box") return;
    if (!dialog.open) {
      opener = document.activeElement ? document.activeElement.id : "";
      dialog.showModal();
    }
    const first = dialog.querySelector("[autofocus]") || $("go");
    if (first) first.focus();
    if ($("passkey") && !supported()) $("passkey").remove();
  });
  dialog && dialog.addEventListener("close", () => {
    $("dialog-box").replaceChildren();
    if (lost()) ($(opener) || $("main")).focus({ preventScroll: true });
  });
  document.addEventListener("click", (e) => {
    const to = e.target.closest("a[data-drawer]");
    if (to && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) {
      e.preventDefault();
      if (to.href === location.href) return; // pressed twice
      history.pushState({ drawer: true }, "", to.href);
      follow(location.pathname + location.search);
    }
    if (e.target.closest("[data-close]") || e.target === drawer) drawer.close();
    if (e.target.closest("[data-shut]") || e.target === dialog) dialog.close();
    if (e.target.closest("[data-passkey]")) agree(e.target.closest("form"));
  });

  // Passkeys.
  const supported = () => window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON;
  const post = async (to, body) => {
    const answer = await fetch(to, { method: "POST", body, headers: { [header]: document.body.dataset.csrf } });
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  };
  const agree = async (form) => {
    const fault = $("passkey-fault");
    fault.classList.add("hidden");
    try {
      const asked = await (await post("/press/challenge", new URLSearchParams(new FormData(form)))).json();
      const options = PublicKeyCredential.parseRequestOptionsFromJSON(asked.options);
      const answer = await navigator.credentials.get({ publicKey: options });
      form.elements.nonce.value = asked.nonce;
      form.elements.answer.value = JSON.stringify(answer.toJSON());
      htmx.trigger(form, "submit");
    } catch (e) {
      fault.textContent = "The passkey did not answer: " + e.message;
      fault.classList.remove("hidden");
    }
  };
  document.addEventListener("submit", async (e) => {
    const form = e.target.closest("[data-new-passkey]");
    if (!form) return;
    e.preventDefault();
    try {
      if (!supported()) throw new Error("this browser knows no passkeys");
      const asked = await (await post("/passkey/new", new URLSearchParams())).json();
      const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked.options) });
      const body = new URLSearchParams(new FormData(form));
      body.set("answer", JSON.stringify(made.toJSON()));
      const html = await fetch("/passkey/new", { method: "POST", body, headers: { [header]: document.body.dataset.csrf } });
      form.reset();
      htmx.swap($("dialog-box"), await html.text(), { swapStyle: "innerHTML" });
      dialog.showModal();
    } catch (err) {
      $("toast").textContent = "The passkey was not made: " + err.message;
    }
  });

  times(document);
  const tab = document.querySelector(".tab-here");
  if (tab) tab.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a narrow screen
  if (live) beside();
  listen();
})();
