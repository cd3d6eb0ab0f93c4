import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Execution, told, type Spec } from './harness/n8n.cts';

let gate: Gate;
before(async () => {
	gate = await Gate.start();
});
after(async () => await gate.stop());

/** Reserves one item; gives back what the node says on Problem, or the key that it got. */
async function keyed(
	parameters: IDataObject,
	json: IDataObject = {},
	upstream: Spec[] = [],
	execution = '1',
) {
	const chain = new Execution({ gate, execution }, [
		...upstream,
		{
			name: 'Reserve',
			parameters: {
				resource: 'run',
				operation: 'reserve',
				flow: 'free',
				payload: '={{ 1 }}',
				keySource: 'shop',
				keyEventType: 'order',
				keyExternalId: randomUUID(),
				keyVersion: '1',
				...parameters,
			},
		},
	]);
	upstream.forEach(({ name }) => chain.ran(name, [{ json }]));
	const [[acquired], , [problem]] = await chain.run('Reserve', [{ json }]);
	return acquired
		? { key: told(acquired).key }
		: { refused: String((told(problem).problem as IDataObject).detail) };
}

describe('the guided form for the key', () => {
	it('shows the resulting key', async () => {
		const id = randomUUID();
		const { key } = await keyed(
			{
				keySource: 'zendesk',
				keyEventType: 'ticket: reply',
				keyExternalId: '={{ $json.id }}',
				keyVersion: '={{ $json.v }}',
			},
			{ id, v: 3 },
		);
		assert.equal(key, `zendesk:ticket%3A reply:${id}:3`);
	});

	const wrong: Array<[string, string, RegExp]> = [
		['the execution id', '={{ $execution.id }}', /\$execution\.id is different every time/],
		['the execution id in a longer text', '=order-{{ $execution.id }}', /\$execution\.id/],
		['the present moment', '={{ $now.toISO() }}', /\$now/],
		['today', '={{ $today }}', /\$now/],
		['the clock', '={{ Date.now() }}', /current time/],
		['a new Date', '={{ new Date().toISOString() }}', /current time/],
		['a fresh UUID', '={{ crypto.randomUUID() }}', /UUID/],
		['a random number', '={{ Math.random() }}', /random/],
		['what a model chooses', "={{ $fromAI('key') }}", /model must not choose/],
	];
	for (const [what, keyExternalId, because] of wrong) {
		it(`refuses ${what}, with a sentence`, async () => {
			const { refused } = await keyed({ keyExternalId });
			assert.match(refused ?? '', because);
			assert.match(refused ?? '', /Take a field of the event/);
		});
	}

	const empty: Array<[string, string]> = [
		['a field that is not there', '={{ $json.body.id }}'],
		['a text with a field that is not there', '=order:{{ $json.nothing }}'],
		['null', '={{ null }}'],
		['an object', '={{ $json }}'],
		['a blank', '   '],
		['the word undefined', 'undefined'],
		['an expression that is text', 'order-{{ $json.id }}'],
	];
	for (const [what, keyExternalId] of empty) {
		it(`refuses ${what}`, async () => {
			const { refused } = await keyed({ keyExternalId }, { body: {} });
			assert.match(refused ?? '', /External ID/);
		});
	}

	it('takes a date that is a field of the event', async () => {
		const { key } = await keyed(
			{ keyVersion: '={{ new Date($json.changed).getTime() }}' },
			{ changed: '2026-11-30T10:00:00Z' },
		);
		assert.match(String(key), /:1796032800000$/);
	});

	it('takes a UUID that is a field of the event', async () => {
		const id = randomUUID();
		assert.match(String((await keyed({ keyExternalId: '={{ $json.id }}' }, { id })).key), new RegExp(id));
	});

	it('refuses an execution id that a node before put into a field', async () => {
		const { refused } = await keyed(
			{ keyExternalId: '={{ $json.id }}' },
			{ id: '77' },
			[
				{
					name: 'Edit',
					type: 'n8n-nodes-base.set',
					parameters: { assignments: [{ value: '={{ $execution.id }}' }] },
				},
			],
			'77',
		);
		assert.match(refused ?? '', /comes from the node "Edit"/);
	});

	it('refuses a fresh UUID of a Crypto node before', async () => {
		const { refused } = await keyed({ keyExternalId: '={{ $json.data }}' }, { data: randomUUID() }, [
			{ name: 'Crypto', type: 'n8n-nodes-base.crypto', parameters: { action: 'generate' } },
		]);
		assert.match(refused ?? '', /comes from the node "Crypto"/);
	});

	it('refuses the present moment that a node before put into a field', async () => {
		const { refused } = await keyed({ keyExternalId: '={{ $json.at }}' }, { at: new Date().toISOString() }, [
			{ name: 'Edit', type: 'n8n-nodes-base.set', parameters: { assignments: [{ value: '={{ $now }}' }] } },
		]);
		assert.match(refused ?? '', /comes from the node "Edit"/);
	});

	it('takes an id that happens to be the number of the execution', async () => {
		const { key } = await keyed(
			{ keyExternalId: '={{ $json.id }}', keySource: randomUUID() },
			{ id: '78' },
			[
				{
					name: 'Edit',
					type: 'n8n-nodes-base.set',
					parameters: { assignments: [{ value: '={{ $json.id }}' }] },
				},
			],
			'78',
		);
		assert.match(String(key), /:78:/);
	});

	it('takes a whole key, and refuses the same mistakes in it', async () => {
		assert.match(
			(await keyed({ keyMode: 'whole', key: '=order:{{ $execution.id }}' })).refused ?? '',
			/Key cannot be part of a key/,
		);
		assert.match(
			(await keyed({ keyMode: 'whole', key: '=order:{{ $json.no }}:1' })).refused ?? '',
			/has a hole/,
		);
	});

	it('hands on what the gate refuses', async () => {
		const { refused } = await keyed({ flow: 'inline', keyMode: 'whole', key: 'anna@example.test' });
		assert.ok(refused && refused.length > 10);
	});
});
