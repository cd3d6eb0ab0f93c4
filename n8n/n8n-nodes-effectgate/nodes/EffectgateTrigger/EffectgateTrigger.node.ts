import type {
	IDataObject,
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { EVENTS } from './events';
import { register, registered, unregister } from './subscription';
import { CREDENTIAL } from '../../shared/request';
import { isSigned } from '../../shared/signature';

export class EffectgateTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Effectgate Trigger',
		name: 'effectgateTrigger',
		icon: { light: 'file:../../icons/effectgate.svg', dark: 'file:../../icons/effectgate.dark.svg' },
		group: ['trigger'],
		version: [1],
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description: 'Starts the workflow when something happens at the gate',
		defaults: { name: 'Effectgate Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: undefined,
		credentials: [{ name: CREDENTIAL, required: true }],
		webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
		properties: [
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				options: EVENTS,
				default: ['approval.decided'],
				required: true,
				description: 'What starts the workflow',
			},
			{
				displayName: 'Flow',
				name: 'flow',
				type: 'string',
				default: '',
				placeholder: 'ticket-reply',
				description: 'Only events of this flow; left empty, of every flow that the API key may touch',
			},
			{
				displayName:
					'An event may come twice. Use effectgate.delivery as the key where what follows must happen once.',
				name: 'notice',
				type: 'notice',
				default: '',
			},
		],
	};

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await registered(this);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				return await register(this);
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return await unregister(this);
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { apiKey } = await this.getCredentials<{ apiKey: string }>(CREDENTIAL);
		const headers = this.getHeaderData();
		const signed = isSigned(apiKey, await rawBody(this), {
			id: headers['webhook-id'],
			timestamp: headers['webhook-timestamp'],
			signature: headers['webhook-signature'],
		});
		if (!signed) {
			this.getResponseObject()
				.status(401)
				.json({ code: 'bad_signature', error: { message: 'This delivery is not signed by the gate.' } });
			return { noWebhookResponse: true };
		}
		return { workflowData: [[{ json: event(this.getBodyData(), String(headers['webhook-id'])) }]] };
	}
}

/** The event as it came, with the run where a later Effectgate node looks for it. */
function event(body: IDataObject, delivery: string): IDataObject {
	const run = (body.data as IDataObject | undefined)?.run as IDataObject | undefined;
	const approval = (body.data as IDataObject | undefined)?.approval as IDataObject | undefined;
	const effectgate: IDataObject = { delivery };
	if (run) Object.assign(effectgate, { run: run.id, flow: run.flow, key: run.key, state: run.state });
	if (approval) effectgate.approval = { id: approval.id, state: approval.state };
	return { ...body, effectgate };
}

/** The bytes as they came: a signature over anything else proves nothing. */
async function rawBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject() as unknown as {
		rawBody?: Buffer;
		readRawBody?: () => Promise<void>;
	};
	if (request.rawBody === undefined) await request.readRawBody?.();
	return request.rawBody ?? Buffer.alloc(0);
}
