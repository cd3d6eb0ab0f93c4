// Writes shared/openapi.d.ts from the golden OpenAPI file of the server. `--check` writes nothing and fails if it is stale.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const source = new URL('../../../openapi/effectgate.json', import.meta.url);
const target = new URL('../shared/openapi.d.ts', import.meta.url);

const document = JSON.parse(await readFile(source, 'utf8'));
const text = [
	'// Made by `npm run types` from openapi/effectgate.json; do not edit.',
	astToString(await openapiTS(document)),
].join('\n');

if (process.argv.includes('--check')) {
	const present = await readFile(target, 'utf8').catch(() => '');
	if (present !== text) {
		console.error('shared/openapi.d.ts is not what openapi/effectgate.json says: run `npm run types`.');
		process.exit(1);
	}
	console.log('types are fresh');
} else {
	await writeFile(target, text);
	console.log(`wrote ${text.length} characters`);
}
