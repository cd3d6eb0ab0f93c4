import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	INodeProperties,
} from 'n8n-workflow';

export class EffectgateApi implements ICredentialType {
	name = 'effectgateApi';

	displayName = 'Effectgate API';

	icon: Icon = { light: 'file:../icons/effectgate.svg', dark: 'file:../icons/effectgate.dark.svg' };

	documentationUrl =
		'https://github.com/effectgate/effectgate/blob/main/n8n/n8n-nodes-effectgate/README.md#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: 'http://127.0.0.1:8787',
			required: true,
			placeholder: 'https://gate.example.com',
			description:
				'Where your Effectgate server listens, as n8n reaches it. If n8n runs with SSRF protection, allow this address there.',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'A key with the scope worker, made by "effectgate key create". Correct also needs the scope operator.',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
	};

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}',
			url: '/v1/whoami',
			method: 'GET',
		},
		// Any site answers 200 to something; only a gate says whose key it is.
		rules: [
			{
				type: 'responseSuccessBody',
				properties: {
					key: 'tenant',
					value: undefined,
					message: 'What answers at the base URL is not an Effectgate server',
				},
			},
		],
	};
}
