import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow';

export class ScanlogApi implements ICredentialType {
  name = 'scanlogApi';

  displayName = 'Scanlog API';

  icon: Icon = { light: 'file:../icons/scanlog.svg', dark: 'file:../icons/scanlog.dark.svg' };

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-scanlog#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      required: true,
      default: '',
      placeholder: 'e.g. https://qr.example.com',
      description: 'Address of the service, without /v1',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      required: true,
      default: '',
      placeholder: 'e.g. sk_live_…',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/[/]+$/, "")}}', url: '/v1/qrcodes', qs: { limit: 1 } },
  };
}
