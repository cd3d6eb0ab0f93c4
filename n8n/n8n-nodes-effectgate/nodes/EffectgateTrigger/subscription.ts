// Registers the trigger at the gate and takes it back. Only the id is kept in n8n; the gate knows the subscription by its
// address, so that one whose id was lost is found again, and drops it by itself once the address is gone for good.
import type { IHookFunctions } from 'n8n-workflow';

import { apiError } from '../../shared/problem';
import { send } from '../../shared/request';
import type { Subscription, SubscriptionList } from '../../shared/wire';

interface Wanted {
	url: string;
	events: string[];
	flow: string | null;
}

function wanted(context: IHookFunctions): Wanted {
	return {
		url: context.getNodeWebhookUrl('default') as string,
		events: [...(context.getNodeParameter('events') as string[])].sort(),
		flow: (context.getNodeParameter('flow', '') as string).trim() || null,
	};
}

/** True only if the gate has this very subscription: one for other events is registered anew under the same address. */
export async function registered(context: IHookFunctions): Promise<boolean> {
	const asked = wanted(context);
	const found = await find(context, asked.url);
	if (!found) return false;
	context.getWorkflowStaticData('node').subscriptionId = found.id;
	return sameEvents(found.events, asked.events) && (found.flow ?? null) === asked.flow;
}

export async function register(context: IHookFunctions): Promise<boolean> {
	const answer = await send<Subscription>(context, 'POST', '/v1/subscriptions', wanted(context));
	if (!answer.ok) throw apiError(context.getNode(), answer.problem);
	context.getWorkflowStaticData('node').subscriptionId = answer.body.id;
	return true;
}

/** @returns false if the gate could not be asked; it drops the subscription itself after the address is gone */
export async function unregister(context: IHookFunctions): Promise<boolean> {
	const data = context.getWorkflowStaticData('node');
	const id = (data.subscriptionId as string | undefined) ?? (await find(context, wanted(context).url))?.id;
	if (id !== undefined) {
		const answer = await send<void>(context, 'DELETE', `/v1/subscriptions/${encodeURIComponent(id)}`);
		if (!answer.ok && answer.status !== 404) throw apiError(context.getNode(), answer.problem);
	}
	delete data.subscriptionId;
	return true;
}

async function find(context: IHookFunctions, url: string): Promise<Subscription | undefined> {
	const answer = await send<SubscriptionList>(context, 'GET', '/v1/subscriptions');
	if (!answer.ok) throw apiError(context.getNode(), answer.problem);
	return answer.body.data.find((subscription) => subscription.url === url);
}

function sameEvents(have: string[], want: string[]): boolean {
	return have.length === want.length && [...have].sort().every((event, index) => event === want[index]);
}
