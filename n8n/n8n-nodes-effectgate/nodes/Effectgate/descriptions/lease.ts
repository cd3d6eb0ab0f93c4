// Where an operation under a lease finds run, owner and fence.
import type { INodeProperties } from 'n8n-workflow';

const ON = [
	{ resource: ['run'], operation: ['renew', 'propose', 'complete', 'fail'] },
	{ resource: ['effect'], operation: ['begin', 'settle'] },
];

export const leaseProperties: INodeProperties[] = ON.flatMap((on): INodeProperties[] => [
	{
		displayName: 'Lease',
		name: 'leaseFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'From Fields',
				value: 'fields',
				description: 'Run, owner and fence, for a run that another workflow reserved',
			},
			{
				name: 'Of This Item',
				value: 'item',
				description:
					'As it travels: in the item, in the headers of a delivery, or from the nearest Effectgate node before',
			},
		],
		default: 'item',
		displayOptions: { show: on },
	},
	{
		displayName: 'Run ID',
		name: 'runId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'run_…',
		displayOptions: { show: { ...on, leaseFrom: ['fields'] } },
	},
	{
		displayName: 'Owner',
		name: 'owner',
		type: 'string',
		default: '',
		required: true,
		displayOptions: { show: { ...on, leaseFrom: ['fields'] } },
	},
	{
		displayName: 'Fence',
		name: 'fence',
		type: 'number',
		default: 1,
		required: true,
		displayOptions: { show: { ...on, leaseFrom: ['fields'] } },
	},
]);
