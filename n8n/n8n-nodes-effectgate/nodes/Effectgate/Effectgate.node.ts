import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';

import { approvalProperties } from './descriptions/approval';
import { effectProperties } from './descriptions/effect';
import { leaseProperties } from './descriptions/lease';
import { outputsExpression } from './descriptions/outputs';
import { runProperties } from './descriptions/run';
import { OPERATIONS } from './operations';
import { resumed, sendAndWait } from './operations/approval';
import { run } from './operations/operation';

export class Effectgate implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Effectgate',
		name: 'effectgate',
		icon: { light: 'file:../../icons/effectgate.svg', dark: 'file:../../icons/effectgate.dark.svg' },
		group: ['transform'],
		version: [1],
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Work on each business event once, with effects that people decide on and that are sent once',
		defaults: { name: 'Effectgate' },
		inputs: [NodeConnectionTypes.Main],
		outputs: outputsExpression() as `={{${string}}}`,
		usableAsTool: true,
		credentials: [{ name: 'effectgateApi', required: true }],
		webhooks: [
			{
				// Only for Send and Wait. POST alone, so that no link scanner and no preview resumes anything.
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: '',
				path: '={{ $nodeId }}',
				restartWebhook: true,
				isFullPath: true,
			},
		],
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				options: [
					{ name: 'Approval', value: 'approval', description: 'A decision of people' },
					{
						name: 'Effect',
						value: 'effect',
						description: 'Something that the workflow does outside, itself',
					},
					{ name: 'Run', value: 'run', description: 'One business event and the work on it' },
				],
				default: 'run',
			},
			...runProperties,
			...effectProperties,
			...approvalProperties,
			...leaseProperties,
		],
	};

	// The webhook above only resumes a parked execution: nothing is registered anywhere. n8n's linter asks every node with
	// webhooks for these three.
	webhookMethods = {
		default: {
			async checkExists(): Promise<boolean> {
				return true;
			},
			async create(): Promise<boolean> {
				return true;
			},
			async delete(): Promise<boolean> {
				return true;
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const resource = this.getNodeParameter('resource', 0) as string;
		const operation = this.getNodeParameter('operation', 0) as string;
		if (operation === 'sendAndWait') return await sendAndWait(this);
		const found = OPERATIONS[`${resource}.${operation}`];
		if (found) return await run(this, found);
		throw new NodeOperationError(this.getNode(), `This node has no operation ${operation} of ${resource}`);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await resumed(this);
	}
}
