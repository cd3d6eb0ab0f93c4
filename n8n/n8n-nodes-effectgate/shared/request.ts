// One way to the gate. Every status that the gate answers with comes back as a value, because a refusal here is mostly a
// branch of the workflow and not a failure of it; only an answer that is not the gate's, or none at all, is thrown.
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	IWebhookFunctions,
	JsonObject,
} from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import type { Problem } from './wire';

export const CREDENTIAL = 'effectgateApi';

// The gate answers in milliseconds and never holds a worker's call for a person; this only bounds a dead connection.
const TIMEOUT_MS = 30_000;

export type Context = IExecuteFunctions | IHookFunctions | IWebhookFunctions;

export type Answer<T> =
	| { ok: true; status: number; body: T }
	| { ok: false; status: number; problem: Problem };

/**
 * Sends one request and gives back what the gate said.
 * @throws NodeApiError if nothing came back, or something that is no answer of an Effectgate server
 */
export async function send<T>(
	context: Context,
	method: IHttpRequestMethods,
	path: string,
	body?: object,
	query?: IDataObject,
	item?: number,
): Promise<Answer<T>> {
	const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(CREDENTIAL);
	const options: IHttpRequestOptions = {
		method,
		url: `${String(baseUrl).trim().replace(/\/+$/, '')}${path}`,
		body: body as IDataObject | undefined,
		qs: query,
		json: true,
		timeout: TIMEOUT_MS,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// A redirect would carry the API key to a place that nobody named.
		disableFollowRedirect: true,
	};
	let response: { statusCode: number; body: unknown };
	try {
		response = (await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			options,
		)) as typeof response;
	} catch (error) {
		throw unreachable(context, error, item);
	}
	return read<T>(context, response.statusCode, response.body, item);
}

function read<T>(context: Context, status: number, given: unknown, item?: number): Answer<T> {
	const body = typeof given === 'string' ? parsed(given) : given;
	if (status >= 200 && status < 300) return { ok: true, status, body: body as T };
	if (isProblem(body)) return { ok: false, status, problem: body };
	throw new NodeApiError(
		context.getNode(),
		{ message: `Status ${status}` },
		{
			message: `What answered at the credential's base URL is not an Effectgate server (status ${status})`,
			description:
				'Open <base URL>/healthz in a browser: it says {"status":"ok"}. A proxy, a login page or a wrong path in between gives answers like this one.',
			httpCode: String(status),
			itemIndex: item,
		},
	);
}

function parsed(text: string): unknown {
	try {
		return text === '' ? undefined : (JSON.parse(text) as unknown);
	} catch {
		return text;
	}
}

function isProblem(body: unknown): body is Problem {
	return typeof body === 'object' && body !== null && typeof (body as Problem).code === 'string';
}

/** No answer: every call of this node may be sent again, so the advice is plain. */
function unreachable(context: Context, error: unknown, item?: number): NodeApiError {
	const said = error instanceof Error ? error.message : String(error);
	const blocked = /restricted IP|SSRF/i.test(said);
	return new NodeApiError(context.getNode(), error as JsonObject, {
		message: blocked
			? 'n8n did not let this request out to the Effectgate server'
			: 'The Effectgate server could not be reached',
		description: blocked
			? `${said}. n8n's SSRF protection blocks private addresses: set N8N_SSRF_ALLOWED_IP_RANGES (or _ALLOWED_HOSTNAMES) to the address of your gate.`
			: `${said}. Nothing is lost and nothing was done twice: the same node of the same execution gets the same answer, so Retry On Fail and a later retry are harmless.`,
		itemIndex: item,
	});
}
