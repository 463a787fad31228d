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
    t.title = at.toLocaleString();
    t.textContent = unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : seconds > 0 ? "in a moment" : "just now";
  };
  const times = (root) => root.querySelectorAll("time").forEach(tell);
  setInterval(() => times(document), 30000);

  // The stream. A browser has few connections to one place, so a hidden window gives its own back.
  let stream = null;
  const live = $("live");
  const path = $("link") && $("link").dataset.live;
  const state = (word, style) => {
    const mark = $("link").firstElementChild;
    mark.className = "status status-" + style;
    mark.nextElementSibling.textContent = word;
  };
  const take = (html) => {
    const open = [...live.querySelectorAll("details[open]")].map((d) => d.id);
    const checked = [...live.querySelectorAll("input")].map((i) => [i.id, i.type === "checkbox" ? i.checked : i.value]);
    const focus = document.activeElement && live.contains(document.activeElement) ? document.activeElement.id : "";
    htmx.swap(live, html, { swapStyle: "innerHTML" });
    open.forEach((id) => $(id) && ($(id).open = true));
    checked.forEach(([id, v]) => $(id) && (typeof v === "boolean" ? ($(id).checked = v) : ($(id).value = v)));
    if (focus && $(focus)) $(focus).focus({ preventScroll: true });
    times(live);
    const said = live.querySelector("template[data-say]");
    if (said) {
      if ($("said").textContent !== said.dataset.say) $("said").textContent = said.dataset.say;
      const cards = $("cards");
      cards.textContent = said.dataset.cards;
      cards.classList.toggle("badge-primary", said.dataset.cards !== "0");
      cards.classList.toggle("badge-neutral", said.dataset.cards === "0");
    }
    live.dataset.updates = String(Number(live.dataset.updates || 0) + 1);
    check();
  };
  const listen = () => {
    if (stream || !path || document.hidden) return;
    stream = new EventSource("/events?view=" + encodeURIComponent(path));
    stream.addEventListener("open", () => { state("live", "success"); $("gone").classList.add("hidden"); });
    stream.addEventListener("view", (e) => take(e.data));
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
    if (opener && $(opener)) $(opener).focus();
    else $("main").focus();
  });
  document.addEventListener("click", (e) => {
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
  listen();
})();
