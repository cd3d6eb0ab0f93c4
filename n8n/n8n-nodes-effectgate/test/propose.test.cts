import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import type { IDataObject } from 'n8n-workflow';

import { Gate } from './harness/gate.cts';
import { Execution, told, type World } from './harness/n8n.cts';

let gate: Gate;
before(async () => {
	gate = await Gate.start();
});
after(async () => await gate.stop());

const KEY = { keySource: 'desk', keyEventType: 'ticket', keyExternalId: '={{ $json.body.id }}' };

const EFFECT = {
	effects: { values: [{ type: 'note', target: 't-1', payload: '={{ { "text": $json.output } }}' }] },
};

/** Webhook, Reserve, Model, Propose; the model has just said this. */
async function proposing(
	flow: string,
	said: unknown,
	parameters: IDataObject = {},
	world: Partial<World> = {},
) {
	const execution = new Execution({ gate, ...world }, [
		{ name: 'Webhook', type: 'n8n-nodes-base.webhook' },
		{ name: 'Reserve', parameters: { resource: 'run', operation: 'reserve', flow, ...KEY } },
		{ name: 'Model', type: '@n8n/n8n-nodes-langchain.agent' },
		{ name: 'Propose', parameters: { resource: 'run', operation: 'propose', ...EFFECT, ...parameters } },
	]);
	execution.ran('Webhook', [{ json: { body: { id: randomUUID() }, headers: {} } }]);
	await execution.run('Reserve');
	// A model node puts out its answer alone: what travelled in the item is gone from it.
	execution.ran('Model', [{ json: { output: said as string }, pairedItem: { item: 0 } }]);
	return execution;
}

const counts = (outputs: unknown[][]) => outputs.map((items) => items.length);

describe('propose', () => {
	it('finds the run again behind a node that replaced the item, and queues what goes by itself', async () => {
		const execution = await proposing('free', { anything: 1 });
		const outputs = await execution.run('Propose');
		assert.deepEqual(counts(outputs), [1, 0, 0, 0]);
		const [[item]] = outputs;
		assert.equal(told(item).answer, 'queued');
		assert.equal(told(item).state, 'approved');
		const [effect] = told(item).effects as IDataObject[];
		assert.deepEqual([effect.type, effect.target, effect.provider], ['note', 't-1', 'sink']);
		assert.deepEqual(item.pairedItem, { item: 0 });
	});

	it('waits for a person where the flow says so, and hands on the approval', async () => {
		const execution = await proposing('asked', '```json\n{"label": "thanks"}\n```');
		const outputs = await execution.run('Propose');
		assert.deepEqual(counts(outputs), [0, 1, 0, 0]);
		const approval = told(outputs[1][0]).approval as IDataObject;
		assert.match(String(approval.id), /^apr_/);
		assert.equal(approval.state, 'open');
		assert.match(String(approval.link), /\/a\//);
	});

	it('sends an output that breaks the schema to Repair with the errors, and to Stopped when no repair is left', async () => {
		const execution = await proposing('asked', '{"label": "complaint"}');
		const repair = await execution.run('Propose');
		assert.deepEqual(counts(repair), [0, 0, 1, 0]);
		assert.equal(told(repair[2][0]).answer, 'repair');
		assert.equal(((told(repair[2][0]).errors as IDataObject[])[0] as IDataObject).pointer, '/label');

		execution.ran('Model', [{ json: { output: '{"label": "order"}' }, pairedItem: { item: 0 } }]);
		const stopped = await execution.run('Propose');
		assert.deepEqual(counts(stopped), [0, 0, 0, 1]);
		assert.equal(told(stopped[3][0]).state, 'failed_terminal');
		assert.equal(told(stopped[3][0]).reason, 'invalid_output');
	});

	it('ends a loop in which the model gives the same invalid output again and again', async () => {
		const execution = await proposing('asked', '{"label": "complaint"}');
		const answers: string[] = [];
		for (let turn = 0; turn < 5; turn++) {
			const outputs = await execution.run('Propose');
			if (outputs[3].length > 0) {
				assert.equal(told(outputs[3][0]).state, 'failed_terminal');
				break;
			}
			answers.push(String(told(outputs[2][0]).answer));
			execution.ran('Model', [{ json: { output: '{"label": "complaint"}' }, pairedItem: { item: 0 } }]);
		}
		assert.deepEqual(answers, ['repair']);
	});

	it('takes the effects from the flow where it maps them', async () => {
		const execution = await proposing(
			'asked',
			{ label: 'question', reply: { text: 'soon' } },
			{ outputFormat: 'json', effectsFrom: 'flow' },
		);
		const outputs = await execution.run('Propose');
		// The flow has no rule for the target, so the gate says what is missing: a repair, not a failed workflow.
		assert.equal(counts(outputs)[2] + counts(outputs)[1], 1);
	});

	it('takes the effects as JSON', async () => {
		const execution = await proposing('free', 'x', {
			outputFormat: 'none',
			effectsFrom: 'json',
			effectsJson:
				'=[{"type": "note", "target": "a", "payload": {}}, {"type": "note", "target": "b", "payload": {}}]',
		});
		const [[item]] = await execution.run('Propose');
		assert.equal((told(item).effects as IDataObject[]).length, 2);
	});

	it('gives a retry whose answer was lost the first answer again', async () => {
		const execution = await proposing('free', { a: 1 });
		execution.world.loseAnswers = 1;
		await assert.rejects(execution.run('Propose'));
		const [[item]] = await execution.run('Propose');
		assert.equal(told(item).repeated, true);
		assert.equal((told(item).effects as IDataObject[]).length, 1);
	});

	it('stops an item whose lease somebody else has taken over', async () => {
		const execution = await proposing('free', { a: 1 });
		const mine = execution.data.resultData.runData.Reserve[0].data!.main[0]![0];
		const { run, owner, fence } = told(mine);
		await gate.api('POST', `/v1/runs/${String(run)}/fail`, { owner, fence, class: 'worker_error' });
		const outputs = await execution.run('Propose');
		assert.deepEqual(counts(outputs), [0, 0, 0, 1]);
		const problem = told(outputs[3][0]).problem as IDataObject;
		assert.equal(problem.code, 'lease_lost');
		assert.match(String(problem.what_to_do), /Stop working on this run/);
	});

	it('says that the model gave nothing, rather than that the JSON is bad', async () => {
		const execution = await proposing('free', undefined);
		await assert.rejects(execution.run('Propose'), /The output of the model is empty/);
	});

	it('proposes no run done whose effects an empty expression took away', async () => {
		const execution = await proposing('free', 'a draft', { effects: { values: [] } });
		await assert.rejects(execution.run('Propose'), /There is no effect to propose/);
	});

	it('sends a failure to Stopped where the node continues on failures', async () => {
		const execution = await proposing('free', undefined, {}, { continueOnFail: true });
		const outputs = await execution.run('Propose');
		assert.deepEqual(counts(outputs), [0, 0, 0, 1]);
		assert.equal(told(outputs[3][0]).run !== undefined, true, 'the run is still known');
	});

	it('refuses to guess where no lease travels', async () => {
		const execution = new Execution({ gate }, [
			{ name: 'Propose', parameters: { resource: 'run', operation: 'propose', ...EFFECT } },
		]);
		await assert.rejects(
			execution.run('Propose', [{ json: { output: 'x' } }]),
			(error: Error & { description?: string }) => {
				assert.match(error.message, /no lease/);
				assert.match(error.description ?? '', /Reserve/);
				return true;
			},
		);
	});

	it("does not take a duplicate's item for a lease", async () => {
		const id = randomUUID();
		const chain = (execution: string) =>
			new Execution({ gate, execution }, [
				{ name: 'Reserve', parameters: { resource: 'run', operation: 'reserve', flow: 'free', ...KEY } },
				{ name: 'Propose', parameters: { resource: 'run', operation: 'propose', ...EFFECT } },
			]);
		await chain('1').run('Reserve', [{ json: { body: { id } } }]);
		const second = chain('2');
		const [, duplicates] = await second.run('Reserve', [{ json: { body: { id } } }]);
		await assert.rejects(second.run('Propose', duplicates), /no lease/);
	});
});

describe('what travels', () => {
	const renewing = { name: 'Renew', parameters: { resource: 'run', operation: 'renew' } };

	it('comes from the headers of a delivery by the gate', async () => {
		const { body } = await gate.api<{ run: IDataObject; lease: IDataObject }>('POST', '/v1/runs', {
			flow: 'free',
			key_parts: { source: 's', event_type: 'e', external_id: `größe-${randomUUID()}`, version: '1' },
			payload: 1,
			owner: 'in:shop:1',
		});
		const headers = {
			'effectgate-run': body.run.id,
			'effectgate-owner': 'in:shop:1',
			'effectgate-fence': '1',
			'effectgate-flow': 'free',
			'effectgate-key': encodeURIComponent(String(body.run.key)),
		} as IDataObject;
		const execution = new Execution({ gate }, [
			{ name: 'Webhook', type: 'n8n-nodes-base.webhook' },
			{ name: 'Other', type: 'n8n-nodes-base.set' },
			renewing,
		]);
		execution.ran('Webhook', [{ json: { body: {}, headers } }]);
		execution.ran('Other', [{ json: {}, pairedItem: { item: 0 } }]);
		const [[item]] = await execution.run('Renew');
		assert.equal(told(item).answer, 'renewed');
		assert.equal(told(item).key, body.run.key);
	});

	it('is that of the paired item, not of the first', async () => {
		const execution = new Execution({ gate }, [
			{ name: 'Reserve', parameters: { resource: 'run', operation: 'reserve', flow: 'free', ...KEY } },
			{ name: 'Other', type: 'n8n-nodes-base.set' },
			renewing,
		]);
		const [acquired] = await execution.run('Reserve', [
			{ json: { body: { id: randomUUID() } } },
			{ json: { body: { id: randomUUID() } } },
		]);
		execution.ran('Other', [
			{ json: { n: 1 }, pairedItem: { item: 1 } },
			{ json: { n: 0 }, pairedItem: { item: 0 } },
		]);
		const [items] = await execution.run('Renew');
		assert.deepEqual(
			items.map((item) => told(item).run),
			[told(acquired[1]).run, told(acquired[0]).run],
		);
	});

	it('is not guessed where the pairing is lost and there were several', async () => {
		const execution = new Execution({ gate }, [
			{ name: 'Reserve', parameters: { resource: 'run', operation: 'reserve', flow: 'free', ...KEY } },
			{ name: 'Other', type: 'n8n-nodes-base.code' },
			renewing,
		]);
		await execution.run('Reserve', [
			{ json: { body: { id: randomUUID() } } },
			{ json: { body: { id: randomUUID() } } },
		]);
		execution.ran('Other', [{ json: {} }]);
		await assert.rejects(execution.run('Renew'), /no lease/);
	});

	it('may be given as fields', async () => {
		const { body } = await gate.api<{ run: IDataObject }>('POST', '/v1/runs', {
			flow: 'free',
			key_parts: { source: 's', event_type: 'e', external_id: randomUUID(), version: '1' },
			payload: 1,
			owner: 'somebody',
		});
		const execution = new Execution({ gate }, [
			{
				name: 'Renew',
				parameters: {
					...renewing.parameters,
					leaseFrom: 'fields',
					runId: String(body.run.id),
					owner: 'somebody',
					fence: 1,
				},
			},
		]);
		const [[item]] = await execution.run('Renew', [{ json: {} }]);
		assert.equal(told(item).answer, 'renewed');
	});
});
