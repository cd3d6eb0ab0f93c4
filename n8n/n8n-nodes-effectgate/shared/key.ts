// The key of an event, and the mistakes that make it worthless. A key that is new on every execution gates nothing, and
// nothing would show it: so the raw expression is looked at, not only what came out of it.
import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';

interface Forbidden {
	pattern: RegExp;
	because: string;
}

const NEW_EACH_TIME =
	'is different every time the workflow runs, so a second delivery of the same event would pass';

const FORBIDDEN: Forbidden[] = [
	{ pattern: /\$execution\b|\$executionId\b/, because: `$execution.id ${NEW_EACH_TIME}` },
	{ pattern: /\$now\b|\$today\b/, because: `$now ${NEW_EACH_TIME}` },
	{
		pattern: /\bDate\.now\s*\(|\bnew\s+Date\s*\(\s*\)|\bDateTime\s*\.\s*(now|local|utc)\s*\(\s*\)/,
		because: `the current time ${NEW_EACH_TIME}`,
	},
	{
		pattern: /randomUUID|\buuid(v?[1-8])?\s*\(|\bnanoid\b|\$uuid\b/i,
		because: `a fresh UUID ${NEW_EACH_TIME}`,
	},
	{
		pattern: /\bMath\s*\.\s*random\b|\brandomInt\b|\.randomItem\s*\(/,
		because: `a random number ${NEW_EACH_TIME}`,
	},
	{
		pattern: /\$fromAI\b|\$fromAi\b|\$fromai\b/,
		because: 'a model must not choose the key ($fromAI): it would choose another one next time',
	},
	{
		pattern: /\$runIndex\b|\$itemIndex\b|\$resumeWebhookUrl\b/,
		because: 'a position in the workflow says nothing about the event',
	},
];

const BLANKS = new Set(['', 'undefined', 'null', 'NaN', '[object Object]', '[undefined]', 'true', 'false']);

const INSTEAD = 'Take a field of the event instead, such as {{ $json.body.id }}.';

/** Says why this parameter's own text cannot give a key, or nothing. */
export function refuseExpression(name: string, raw: unknown): string | undefined {
	if (typeof raw !== 'string' || !raw.startsWith('=')) return undefined;
	// Only what stands inside {{ }} is computed; text outside may say anything.
	const computed = [...raw.matchAll(/\{\{([\s\S]*?)\}\}/g)].map((m) => m[1]).join('\n');
	const found = FORBIDDEN.find(({ pattern }) => pattern.test(computed));
	return found && `${name} cannot be part of a key: ${found.because}. ${INSTEAD}`;
}

/**
 * n8n puts nothing where a field inside a text is missing, so `order:{{ $json.body.id }}` becomes `order:` for every such
 * event: each computed piece is looked at by itself.
 */
export function refuseHoles(
	context: IExecuteFunctions,
	name: string,
	raw: unknown,
	item: number,
): string | undefined {
	if (typeof raw !== 'string' || !raw.startsWith('=')) return undefined;
	for (const [piece] of raw.matchAll(/\{\{[\s\S]*?\}\}/g)) {
		if (isEmpty(context, piece, item))
			return `${name} has a hole: ${piece} is empty for this item. ${INSTEAD}`;
	}
	return undefined;
}

function isEmpty(context: IExecuteFunctions, piece: string, item: number): boolean {
	try {
		const value: unknown = context.evaluateExpression(piece, item);
		return value === undefined || value === null || String(value).trim() === '';
	} catch {
		// Braces inside the expression: this is no piece of its own. What came out as a whole is looked at anyway.
		return false;
	}
}

/** Says why what came out cannot name an event, or nothing. */
export function refuseValue(name: string, value: unknown): string | undefined {
	if (value === null || value === undefined || typeof value === 'object' || typeof value === 'boolean') {
		return `${name} is ${kind(value)}: the event of this item has no such field. ${INSTEAD}`;
	}
	const text = String(value).trim();
	if (BLANKS.has(text))
		return `${name} is ${text === '' ? 'empty' : `"${text}"`}: the event of this item has no such field. ${INSTEAD}`;
	if (/\{\{|\}\}/.test(text)) return `${name} still holds an expression that was not expanded: ${text}`;
	if (/(^|:)(undefined|null|NaN|\[object Object\])(:|$)/.test(text)) {
		return `${name} holds an empty field (${text}): a part of the event is missing. ${INSTEAD}`;
	}
	return undefined;
}

function kind(value: unknown): string {
	if (value === null || value === undefined) return String(value);
	if (Array.isArray(value)) return 'a list';
	return typeof value === 'object' ? 'an object' : String(value);
}

/**
 * A field that an earlier node filled with something new each time looks like any other field. Where the value is an
 * execution id, a UUID or the present moment, the nodes before are asked whether they made it.
 */
export function refuseMadeUpstream(
	context: IExecuteFunctions,
	name: string,
	value: unknown,
): string | undefined {
	const text = String(value);
	const suspects: RegExp[] = [];
	if (text === context.getExecutionId()) suspects.push(FORBIDDEN[0].pattern);
	if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text))
		suspects.push(FORBIDDEN[3].pattern);
	if (isNow(text)) suspects.push(FORBIDDEN[1].pattern, FORBIDDEN[2].pattern);
	if (suspects.length === 0) return undefined;
	const maker = context
		.getParentNodes(context.getNode().name, { includeNodeParameters: true })
		.find((parent) => {
			const parameters = JSON.stringify(parent.parameters ?? {});
			return (
				suspects.some((pattern) => pattern.test(parameters)) ||
				makesUuids(parent.type, parent.parameters, text)
			);
		});
	return (
		maker &&
		`${name} comes from the node "${maker.name}", which makes a new value every time the workflow runs. ${INSTEAD}`
	);
}

function makesUuids(type: string, parameters: INodeParameters | undefined, text: string): boolean {
	return text.includes('-') && type === 'n8n-nodes-base.crypto' && parameters?.action === 'generate';
}

/** Within two minutes of the present moment, as ISO text, milliseconds or seconds. */
function isNow(text: string): boolean {
	const at = /^\d{10}(\d{3})?$/.test(text)
		? Number(text) * (text.length === 10 ? 1000 : 1)
		: Date.parse(text);
	return /\d{4}-\d{2}-\d{2}T|^\d{10,13}$/.test(text) && Math.abs(Date.now() - at) < 120_000;
}
