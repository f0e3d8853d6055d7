// SPDX-License-Identifier: GPL-2.0-only
/* What the server says: JSON and server-sent events, and why it does not. */

export class Refused extends Error {}	/* a token is needed */
export class Missing extends Error {}	/* there is no such host */

export async function ask(path, parameters = {}, signal = undefined) {
	const query = new URLSearchParams(parameters).toString();
	const answer = await fetch(path + (query ? "?" + query : ""), { signal });

	if (answer.status === 401)
		throw new Refused("token");
	if (answer.status === 403)
		throw new Refused("host");
	if (answer.status === 404)
		throw new Missing(path);
	if (!answer.ok)
		throw new Error("the server answers " + answer.status);
	return answer.json();
}

export function setToken(token) {
	document.cookie = "dart_token=" + encodeURIComponent(token) + "; path=/; SameSite=Strict; max-age=31536000" +
		(location.protocol === "https:" ? "; Secure" : "");
}

/*
 * Events until close() is called.  @handlers has a function for each event, "opened" (again after each break), and
 * "broken".
 */
export class Stream {
	constructor(path, parameters, handlers) {
		const query = new URLSearchParams(parameters).toString();

		this.url = path + (query ? "?" + query : "");
		this.handlers = handlers;
		this.open();
	}

	open() {
		this.source = new EventSource(this.url);
		this.source.onopen = () => this.handlers.opened?.();
		this.source.onerror = () => this.onError();
		for (const [name, handle] of Object.entries(this.handlers))
			if (name !== "opened" && name !== "broken")
				this.source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
	}

	/* A browser tries again by itself, but not after an answer that is no stream. */
	onError() {
		if (this.isClosed)
			return;
		this.handlers.broken?.();
		if (this.source.readyState === EventSource.CLOSED)
			this.timer = setTimeout(() => this.open(), 2000);
	}

	close() {
		this.isClosed = true;
		clearTimeout(this.timer);
		this.source.close();
	}
}

/* At most one call for each frame of the screen. */
export function eachFrame(draw) {
	let isAsked = false;

	return () => {
		if (isAsked)
			return;
		isAsked = true;
		requestAnimationFrame(() => {
			isAsked = false;
			draw();
		});
	};
}
