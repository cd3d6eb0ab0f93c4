import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Execution, told } from './harness/n8n.cts';

let gate: Gate;
before(async () => {
	gate = await Gate.start();
});
after(async () => await gate.stop());

const RESERVE = {
	name: 'Reserve',
	parameters: {
		resource: 'run',
		operation: 'reserve',
		flow: 'free',
		keySource: 'shop',
		keyEventType: 'order',
		keyExternalId: '={{ $json.body.id }}',
	},
};

async function reserved(id: string, then: IDataObject, execution = '1') {
	const chain = new Execution({ gate, execution }, [
		RESERVE,
		{ name: 'Then', parameters: { resource: 'run', ...then } },
	]);
	await chain.run('Reserve', [{ json: { body: { id } } }]);
	return chain;
}

describe('a run', () => {
	it('is failed with a class, and the gate says whether and when to try again', async () => {
		const chain = await reserved(randomUUID(), {
			operation: 'fail',
			failClass: 'model_timeout',
			failMessage: 'slow',
		});
		const [[item]] = await chain.run('Then');
		assert.equal(told(item).retry, true);
		assert.equal(told(item).state, 'failed_retryable');
		assert.equal(typeof told(item).attempts_left, 'number');
		assert.match(String(told(item).next_attempt_at), /^\d{4}-/);
	});

	it('is renewed for as long as asked', async () => {
		const chain = await reserved(randomUUID(), { operation: 'renew', options: { leaseMs: 500_000 } });
		const [[item]] = await chain.run('Then');
		assert.ok(Date.parse(String(told(item).lease_expires_at)) - Date.now() > 400_000);
	});

	it('is read as it is, and its lease still travels', async () => {
		const chain = await reserved(randomUUID(), { operation: 'get' });
		const [[item]] = await chain.run('Then');
		assert.equal(item.json.state, 'processing');
		assert.equal(item.json.id, told(item).run);
		assert.equal(told(item).owner, 'n8n:wf:1:id-Reserve:0');
	});

	it('is explained by its key', async () => {
		const id = randomUUID();
		await reserved(id, { operation: 'get' });
		const chain = new Execution({ gate }, [
			{
				name: 'Explain',
				parameters: {
					resource: 'run',
					operation: 'explain',
					runFrom: 'key',
					findFlow: 'free',
					findKey: `shop:order:${id}:1`,
				},
			},
		]);
		const [[item]] = await chain.run('Explain', [{ json: {} }]);
		assert.equal(item.json.sent, 'no');
		assert.equal((item.json.reason as IDataObject).code !== undefined, true);
		assert.equal(told(item).key, `shop:order:${id}:1`);
	});

	it('that nobody ever reserved is named as such', async () => {
		const chain = new Execution({ gate }, [
			{
				name: 'Get',
				parameters: {
					resource: 'run',
					operation: 'get',
					runFrom: 'key',
					findFlow: 'free',
					findKey: 'shop:order:none:1',
				},
			},
		]);
		await assert.rejects(chain.run('Get', [{ json: {} }]), /No run of the flow free has the key/);
	});

	it('that has ended is corrected by a new event with its own key', async () => {
		const id = randomUUID();
		const first = await reserved(id, { operation: 'complete', result: '={"sent": 1}' });
		await first.run('Then');
		const chain = new Execution({ gate }, [
			{
				name: 'Correct',
				parameters: {
					resource: 'run',
					operation: 'correct',
					runFrom: 'key',
					findFlow: 'free',
					findKey: `shop:order:${id}:1`,
					reason: 'wrong amount',
					keySource: 'shop',
					keyEventType: 'order.corrected',
					keyExternalId: '={{ $json.correction }}',
				},
			},
		]);
		const [[item]] = await chain.run('Correct', [{ json: { correction: randomUUID() } }]);
		assert.equal(told(item).state, 'queued');
		assert.match(String(told(item).corrects), /^run_/);
		assert.equal(told(item).owner, undefined, 'a correction is worked on by whoever reserves it');
	});

	it('shows an unreachable gate once, and stops at the first item', async () => {
		const chain = await reserved(randomUUID(), { operation: 'get' });
		chain.world.gate = { url: 'http://127.0.0.1:9', apiKey: 'x' };
		await assert.rejects(chain.run('Then'), /could not be reached/);
	});
});
