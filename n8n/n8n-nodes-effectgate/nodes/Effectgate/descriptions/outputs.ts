// The node's outputs follow its operation, so that a loser's item has no way to the winner's branch.
import { OPERATIONS } from '../operations';

/** An expression for `outputs`; n8n works it out whenever the operation changes. */
export function outputsExpression(): string {
	const named = Object.entries(OPERATIONS)
		.filter(([, { outputs }]) => outputs.length > 1)
		.map(([operation, { outputs }]) => [
			operation,
			outputs.map((displayName) => ({ type: 'main', displayName })),
		]);
	const table = JSON.stringify(Object.fromEntries(named));
	return `={{ (${table})[$parameter.resource + "." + $parameter.operation] ?? ["main"] }}`;
}
