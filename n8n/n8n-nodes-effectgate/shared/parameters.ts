// Reads the node's fields as what the gate wants: JSON where JSON is meant, and nothing at all for a field left empty.
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** A JSON field: an expression may give the value itself, typed text is parsed. */
export function json(context: IExecuteFunctions, name: string, item: number, label: string): unknown {
	const value: unknown = context.getNodeParameter(name, item);
	if (typeof value !== 'string') return value;
	try {
		return JSON.parse(value) as unknown;
	} catch (error) {
		throw new NodeOperationError(context.getNode(), `${label} is not JSON: ${(error as Error).message}`, {
			description:
				'Use an expression that gives the value itself, such as {{ $json.body }}, or write valid JSON.',
			itemIndex: item,
		});
	}
}

/** A text field; `undefined` if it was left empty. */
export function text(context: IExecuteFunctions, name: string, item: number): string | undefined {
	return worded(context.getNodeParameter(name, item, ''));
}

/**
 * A text field that must not be empty.
 * @throws NodeOperationError that names the field
 */
export function wanted(context: IExecuteFunctions, name: string, item: number, label: string): string {
	const value = text(context, name, item);
	if (value !== undefined) return value;
	throw new NodeOperationError(context.getNode(), `${label} is empty`, {
		description: 'Fill in this field; if it is an expression, the item has no such member.',
		itemIndex: item,
	});
}

/** The collection "Options" of the node. */
export function options(context: IExecuteFunctions, item: number): IDataObject {
	return context.getNodeParameter('options', item, {}) as IDataObject;
}

export function worded(value: unknown): string | undefined {
	if (value === null || value === undefined) return undefined;
	const said = String(value).trim();
	return said === '' ? undefined : said;
}

/** Without the members that are undefined, which JSON would drop as well; for objects that are looked at. */
export function given<T extends object>(members: T): T {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
