// The resource Effect: what the workflow performs itself, marked before and settled after.
import type { INodeProperties } from 'n8n-workflow';

const on = (...operation: string[]) => ({ show: { resource: ['effect'], operation } });

export const effectProperties: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['effect'] } },
		options: [
			{
				name: 'Begin',
				value: 'begin',
				action: 'Begin an effect',
				description: 'Write down that the workflow is about to do this, before it does',
			},
			{
				name: 'Settle',
				value: 'settle',
				action: 'Settle an effect',
				description: 'Say how it went; when in doubt, that it is not known',
			},
		],
		default: 'begin',
	},
	{
		displayName: 'Effect Type',
		name: 'effectType',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'crm_note',
		description: 'An effect type of the flow that has inline = true',
		displayOptions: on('begin'),
	},
	{
		displayName: 'Target',
		name: 'target',
		type: 'string',
		default: '',
		description: 'Whom or what it is for. Left empty where the flow takes it from the event.',
		displayOptions: on('begin'),
	},
	{
		displayName: 'Payload',
		name: 'effectPayload',
		type: 'json',
		default: '{}',
		required: true,
		description: 'What is about to be sent; only its hash has to match at a second begin',
		displayOptions: on('begin'),
	},
	{
		displayName: 'Outcome',
		name: 'outcome',
		type: 'options',
		options: [
			{ name: 'Applied', value: 'applied', description: 'It happened' },
			{ name: 'Not Known', value: 'unknown', description: 'A timeout, a lost answer, anything unclear' },
			{ name: 'Not Sent', value: 'not_sent', description: 'It provably never left' },
			{ name: 'Refused', value: 'refused', description: 'The other side said a definite no' },
		],
		default: 'unknown',
		displayOptions: on('settle'),
	},
	{
		displayName: 'External ID',
		name: 'externalId',
		type: 'string',
		default: '',
		description: 'The name that the other side gave to what happened',
		displayOptions: on('settle'),
	},
	{
		displayName: 'Message',
		name: 'settleMessage',
		type: 'string',
		default: '',
		description: 'For the record; no customer data and no secrets',
		displayOptions: on('settle'),
	},
	{
		displayName: 'Effect ID',
		name: 'effectId',
		type: 'string',
		default: '',
		placeholder: 'eff_…',
		description: 'Left empty: the effect that travels with the item since its Begin',
		displayOptions: on('settle'),
	},
];
