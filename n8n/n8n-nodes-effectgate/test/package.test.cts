import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { Effectgate } from '../nodes/Effectgate/Effectgate.node.ts';
import { EffectgateTrigger } from '../nodes/EffectgateTrigger/EffectgateTrigger.node.ts';

const HERE = join(__dirname, '..');
const read = (name: string) => readFileSync(join(HERE, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, unknown> & string>;

describe('the package', () => {
	it("has types that are fresh from the server's OpenAPI file", () => {
		execFileSync(process.execPath, ['scripts/types.mjs', '--check'], { cwd: HERE, stdio: 'pipe' });
	});

	it('keeps what verification asks for', () => {
		assert.equal(manifest.license, 'MIT');
		assert.equal(manifest.dependencies, undefined);
		assert.equal(manifest.overrides, undefined);
		assert.deepEqual(manifest.peerDependencies, { 'n8n-workflow': '*' });
		assert.ok((manifest.keywords as unknown as string[]).includes('n8n-community-node-package'));
		assert.equal((manifest.n8n as Record<string, unknown>).strict, true);
		for (const script of [
			'preinstall',
			'install',
			'postinstall',
			'prepare',
			'prepublish',
			'prepublishOnly',
		]) {
			assert.equal(manifest.scripts[script], undefined, script);
		}
	});

	it('names no registry in its lock file', () => {
		assert.doesNotMatch(read('package-lock.json'), /"resolved"|https?:\/\/[^"]*regist/);
	});

	it('has the icons and the codex of every node', () => {
		for (const name of ['effectgate.svg', 'effectgate.dark.svg'])
			assert.ok(existsSync(join(HERE, 'icons', name)));
		for (const name of ['Effectgate', 'EffectgateTrigger']) {
			assert.doesNotThrow(() => JSON.parse(read(`nodes/${name}/${name}.node.json`)) as unknown);
		}
	});
});

describe('the node as n8n reads it', () => {
	const { description } = new Effectgate();

	it('resumes by POST alone', () => {
		assert.deepEqual(
			description.webhooks!.map(({ httpMethod, restartWebhook, isFullPath }) => [
				httpMethod,
				restartWebhook,
				isFullPath,
			]),
			[['POST', true, true]],
		);
	});

	it('has an operation sendAndWait of the resource approval, of which n8n makes a Human review tool', () => {
		const operation = description.properties.find(
			(property) =>
				property.name === 'operation' &&
				(property.options ?? []).some((option) => 'value' in option && option.value === 'sendAndWait'),
		);
		assert.deepEqual(operation?.displayOptions?.show?.resource, ['approval']);
		assert.ok(description.properties.some(({ name }) => name === 'message'));
	});

	it('names no action twice', () => {
		const actions = description.properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options }) =>
				(options ?? []).map((option) => ('action' in option ? option.action : undefined)),
			);
		assert.equal(new Set(actions).size, actions.length);
	});

	it('keeps the trigger away from agents', () => {
		assert.equal(new EffectgateTrigger().description.usableAsTool, undefined);
	});
});
