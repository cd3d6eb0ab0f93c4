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

/** Reserve, Begin, the effect itself, Settle. */
async function performing(
	id: string,
	execution = '1',
	settle: IDataObject = { outcome: 'applied', externalId: 'x-1' },
) {
	const chain = new Execution({ gate, execution }, [
		{
			name: 'Reserve',
			parameters: {
				resource: 'run',
				operation: 'reserve',
				flow: 'inline',
				keyMode: 'whole',
				key: `note:${id}`,
			},
		},
		{
			name: 'Begin',
			parameters: {
				resource: 'effect',
				operation: 'begin',
				effectType: 'note',
				target: 't',
				effectPayload: '={{ $json.body }}',
			},
		},
		{ name: 'HTTP Request', type: 'n8n-nodes-base.httpRequest' },
		{ name: 'Settle', parameters: { resource: 'effect', operation: 'settle', ...settle } },
		{ name: 'Complete', parameters: { resource: 'run', operation: 'complete', result: '={"ok": true}' } },
	]);
	await chain.run('Reserve', [{ json: { body: { id } } }]);
	return chain;
}

describe('effects that the workflow performs itself', () => {
	it('are begun once, settled with what the other side said, and end the run', async () => {
		const chain = await performing(randomUUID());
		const [[begun], known] = await chain.run('Begin');
		assert.equal(known.length, 0);
		assert.equal(told(begun).answer, 'begun');
		assert.match(String((told(begun).effect as IDataObject).provider_key), /./);
		// The answer of the other side is all that is left of the item.
		chain.ran('HTTP Request', [{ json: { created: 1 }, pairedItem: { item: 0 } }]);
		const [[settled]] = await chain.run('Settle');
		assert.equal((told(settled).effect as IDataObject).state, 'completed');
		assert.equal((told(settled).effect as IDataObject).external_id, 'x-1');
		const [[done]] = await chain.run('Complete');
		assert.equal(told(done).state, 'completed');
	});

	it('go to Known and not to Begun when they were begun before under the lease of a predecessor', async () => {
		const id = randomUUID();
		const first = await performing(id, '1', { outcome: 'applied', externalId: 'x-2' });
		const [[begun]] = await first.run('Begin');
		const { run, owner, fence, effect } = told(begun) as {
			run: string;
			owner: string;
			fence: number;
			effect: IDataObject;
		};
		await gate.api('POST', `/v1/effects/${String(effect.id)}/settle`, {
			owner,
			fence,
			outcome: 'applied',
			external_id: 'x-2',
		});
		await gate.api('POST', `/v1/runs/${run}/fail`, { owner, fence, class: 'worker_error' });

		const second = await performing(id, '2');
		const [nothing, [known]] = await second.run('Begin');
		assert.equal(nothing.length, 0);
		assert.equal(told(known).answer, 'known');
		assert.equal((told(known).effect as IDataObject).state, 'completed');
		assert.equal((told(known).effect as IDataObject).external_id, 'x-2');
	});

	it('are held back on Known while the switch is off', async () => {
		await gate.api('PUT', '/v1/switches', { scope: 'all', enabled: false, reason: 'test' });
		try {
			const chain = await performing(randomUUID());
			const [begun, [held]] = await chain.run('Begin');
			assert.equal(begun.length, 0);
			assert.equal(told(held).answer, 'held_back');
			assert.equal((told(held).problem as IDataObject).code, 'switch_off');
		} finally {
			await gate.api('PUT', '/v1/switches', { scope: 'all', enabled: true, reason: 'test' });
		}
	});

	it('are held back on Known when the lease is lost', async () => {
		const chain = await performing(randomUUID());
		const { run, owner, fence } = told(chain.data.resultData.runData.Reserve[0].data!.main[0]![0]);
		await gate.api('POST', `/v1/runs/${String(run)}/fail`, { owner, fence, class: 'worker_error' });
		const [begun, [held]] = await chain.run('Begin');
		assert.equal(begun.length, 0);
		assert.equal((told(held).problem as IDataObject).code, 'lease_lost');
	});

	it('cannot be settled where none was begun, and say what to do', async () => {
		const chain = await performing(randomUUID());
		chain.ran('Begin', [], 0);
		chain.ran('HTTP Request', [{ json: {}, pairedItem: { item: 0 } }]);
		await assert.rejects(chain.run('Settle', [{ json: reserved(chain) }]), /No begun effect is known/);
	});

	it('keep a run from being completed while they are open', async () => {
		const chain = await performing(randomUUID());
		await chain.run('Begin');
		chain.ran('HTTP Request', [{ json: {}, pairedItem: { item: 0 } }]);
		chain.ran('Settle', [{ json: {}, pairedItem: { item: 0 } }]);
		await assert.rejects(chain.run('Complete'), (error: Error & { description?: string }) => {
			assert.match(error.message, /effects_open/);
			assert.match(error.description ?? '', /Settle every begun effect/);
			return true;
		});
	});
});

const reserved = (chain: Execution) => chain.data.resultData.runData.Reserve[0].data!.main[0]![0].json;
