// The guided form for the key of an event.
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

type Show = NonNullable<IDisplayOptions['show']>;

/** The fields, shown where the given ones are. */
export function keyFields(show: Show): INodeProperties[] {
	const parts = { displayOptions: { show: { ...show, keyMode: ['parts'] } } };
	return [
		{
			displayName: 'Key',
			name: 'keyMode',
			type: 'options',
			noDataExpression: true,
			options: [
				{
					name: 'From Fields of the Event',
					value: 'parts',
					description: 'Source, event type, external ID and version, joined with colons by the gate',
				},
				{ name: 'Whole', value: 'whole', description: 'One value that names the event' },
			],
			default: 'parts',
			description:
				'What names this business event, today and at its second delivery. The resulting key is in the output as effectgate.key.',
			displayOptions: { show },
		},
		{
			displayName: 'Source',
			name: 'keySource',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'zendesk',
			description: 'The system that the event comes from',
			...parts,
		},
		{
			displayName: 'Event Type',
			name: 'keyEventType',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'ticket.reply',
			description: 'What happened there, as this workflow understands it',
			...parts,
		},
		{
			displayName: 'External ID',
			name: 'keyExternalId',
			type: 'string',
			default: '',
			required: true,
			placeholder: '{{ $json.body.ticket }}',
			description:
				'The ID that the source gave the event or its object. Never the ID of the execution, the present time or a fresh UUID.',
			...parts,
		},
		{
			displayName: 'Version',
			name: 'keyVersion',
			type: 'string',
			default: '1',
			required: true,
			placeholder: '{{ $json.body.updated_at }}',
			description: 'Which state of the object this is about, if the same object comes again after a change',
			...parts,
		},
		{
			displayName: 'Key',
			name: 'key',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'ticket.reply:zendesk:{{ $json.body.ticket }}:1',
			description:
				'Up to 255 characters that name one event. Never the ID of the execution, the present time or a fresh UUID.',
			displayOptions: { show: { ...show, keyMode: ['whole'] } },
		},
	];
}
