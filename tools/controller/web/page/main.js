// SPDX-License-Identifier: GPL-2.0-only
/* The shell of the page: bar, addresses, theme, keys, and what is shown if the server cannot be asked. */
import { el, forgetTheme, setText } from "./elements.js";
import { hostName, printable } from "./format.js";
import { Host } from "./host.js";
import { Overview } from "./overview.js";
import { Missing, Refused, setToken } from "./server.js";
import { Stores } from "./stores.js";

const bar = document.getElementById("bar"), main = document.getElementById("main"), notice = document.getElementById("notice");
let view = null;

/* What a view may ask of the page around it. */
const shell = {
	remember(path, parameters) {
		const query = parameters.toString();
		const hash = path + (query ? "?" + query : "");

		if (location.hash !== hash)
			history.replaceState(null, "", hash);
	},

	reached() {
		notice.hidden = true;
	},

	lost(again) {
		setText(notice, "The controller does not answer. What is shown is old; the page tries again.");
		notice.hidden = false;
		clearTimeout(this.timer);
		this.timer = setTimeout(again, 3000);
	},

	failed(error, again) {
		if (error instanceof Refused)
			showRefused(error.message);
		else if (error instanceof Missing)
			showText("There is no such host", "The controller does not scrape it, or not any more.");
		else
			this.lost(again);
	},
};

function showText(title, ...rest) {
	view?.close();
	view = null;
	main.replaceChildren(el("div", { className: "state" }, el("h2", { textContent: title }), ...rest));
	document.documentElement.dataset.ready = "text";
}

function showRefused(why) {
	if (why === "host") {
		showText("Refused", "This controller only answers programs of its own host. Open the page as http://localhost, or start the controller with --web-token-file.");
		return;
	}
	const input = el("input", { type: "password", autocomplete: "current-password", required: true });

	input.setAttribute("aria-label", "Token");
	const button = el("button", { type: "submit", textContent: "Show" });
	const form = el("form", {}, input, button);

	form.addEventListener("submit", (event) => {
		event.preventDefault();
		setToken(input.value.trim());
		route();
	});
	showText("A token is needed", "It is in the file that the controller was started with (--web-token-file).", form);
	input.focus();
}

/* ---- the bar */

const themeButton = el("button", { className: "icon", title: "Dark or light (t)", textContent: "◐", onclick: () => toggleTheme() });
const helpButton = el("button", { className: "icon narrow-off", title: "Keys (?)", textContent: "?", onclick: () => help.showModal() });

themeButton.setAttribute("aria-label", "Dark or light");
helpButton.setAttribute("aria-label", "Keys");

const help = el("dialog", {}, el("h2", { textContent: "Keys" }), el("dl", {}, ...[
	["/", "find a host or a series"], ["Esc", "back to all hosts"], ["space", "pause, or live again"],
	["← →", "look back and forth"], ["+ −", "zoom; or drag in a plot"], ["0", "live again; or double-click in a plot"],
	["t", "dark or light"],
].flatMap(([key, text]) => [el("dt", {}, el("kbd", { textContent: key })), el("dd", { textContent: text })])),
el("form", { method: "dialog" }, el("button", { textContent: "Close" })));

document.body.append(help);

function showBar(name, controls, isStores = false) {
	const brand = el("a", { className: "brand", href: "#/", title: "All hosts" }, el("img", { src: "/icon.svg", alt: "" }), el("span", { textContent: "dart" }));

	bar.replaceChildren(brand,
		...(name === null ? [el("nav", {}, ...[["#/", "Hosts"], ["#/stores", "Stores"]].map(([href, text]) =>
			el("a", { href, textContent: text, ariaCurrent: (href === "#/stores") === isStores ? "page" : null }))), el("span", { className: "space" })] : [el("div", { className: "where" }, el("h1", { textContent: hostName(name), title: printable(name) }))]),
		...controls, themeButton, helpButton);
	document.title = name === null ? "dart" : hostName(name) + " – dart";
}

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	forgetTheme();
	view?.redraw();
}

function toggleTheme() {
	const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";

	localStorage.setItem("theme", theme);
	setTheme(theme);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

prefersDark.addEventListener("change", () => localStorage.getItem("theme") || setTheme(prefersDark.matches ? "dark" : "light"));
setTheme(localStorage.getItem("theme") || (prefersDark.matches ? "dark" : "light"));

/* ---- addresses: #/, #/host/NAME and #/stores, each with parameters behind "?" */

function route() {
	const [path, query] = location.hash.slice(1).split("?");
	const parameters = new URLSearchParams(query || "");
	const host = path.match(/^\/host\/(.+)$/);

	delete document.documentElement.dataset.ready;
	view?.close();
	view = null;
	notice.hidden = true;
	if (host) {
		const name = decodeURIComponent(host[1]);

		view = new Host(shell, name, parameters);
		showBar(name, view.controls);
	} else if (path === "/stores") {
		view = new Stores(shell, parameters);
		showBar(null, [], true);
	} else {
		view = new Overview(shell, parameters);
		showBar(null, []);
	}
	main.replaceChildren(view.element);
	scrollTo(0, 0);
}

addEventListener("hashchange", route);

addEventListener("keydown", (event) => {
	const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);

	if (event.ctrlKey || event.metaKey || event.altKey || help.open)
		return;
	if (event.key === "Escape") {
		if (isTyping)
			event.target.blur();
		else if (/^#\/(host|stores)/.test(location.hash))
			location.hash = "#/";
		return;
	}
	if (isTyping || (event.key === " " && event.target.tagName === "BUTTON"))
		return;
	if (event.key === "/")
		view?.focusSearch();
	else if (event.key === "t")
		toggleTheme();
	else if (event.key === "?")
		help.showModal();
	else if (!view?.onKey?.(event.key))
		return;
	event.preventDefault();
});

route();
