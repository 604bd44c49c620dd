import {
  type IDataObject,
  type IHookFunctions,
  type IHttpRequestOptions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { isSigned } from './signature';

/** The webhook that this node has created, in the data that n8n keeps for a workflow. */
interface Registered {
  webhookId?: string;
  secret?: string;
}

interface Webhook {
  id: string;
  url: string;
  secret: string;
}

export class ScanlogTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Scanlog Trigger',
    name: 'scanlogTrigger',
    icon: { light: 'file:../../icons/scanlog.svg', dark: 'file:../../icons/scanlog.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when a QR code is scanned or changed',
    defaults: { name: 'Scanlog Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'scanlogApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        options: [
          { name: 'Code Created', value: 'code.created' },
          { name: 'Code Deleted', value: 'code.deleted' },
          { name: 'Code Updated', value: 'code.updated' },
          { name: 'Scan Created', value: 'scan.created' },
        ],
        default: ['scan.created'],
      },
      {
        displayName: 'Tags',
        name: 'tags',
        type: 'string',
        default: '',
        placeholder: 'e.g. summer, tables',
        description: 'Only events of codes with one of these tags, separated by commas. Empty for all codes.',
      },
    ],
    usableAsTool: undefined,
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { webhookId }: Registered = this.getWorkflowStaticData('node');
        if (webhookId === undefined) return false;
        const { data } = await send<{ data: Webhook[] }>(this, 'GET', '/v1/webhooks');
        const url = this.getNodeWebhookUrl('default');
        return data.some((webhook) => webhook.id === webhookId && webhook.url === url);
      },
      async create(this: IHookFunctions): Promise<boolean> {
        const tags = listOf(this.getNodeParameter('tags', '') as string);
        const { id, secret } = await send<Webhook>(this, 'POST', '/v1/webhooks', {
          url: this.getNodeWebhookUrl('default'),
          events: this.getNodeParameter('events') as string[],
          description: `n8n: ${this.getWorkflow().name ?? this.getWorkflow().id}`.slice(0, 100),
          ...(tags.length === 0 ? {} : { tags }),
        });
        Object.assign(this.getWorkflowStaticData('node'), { webhookId: id, secret });
        return true;
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        const registered: Registered = this.getWorkflowStaticData('node');
        if (registered.webhookId === undefined) return true;
        const { data } = await send<{ data: Webhook[] }>(this, 'GET', '/v1/webhooks');
        // Someone may have removed it in the console.
        if (data.some(({ id }) => id === registered.webhookId))
          await send(this, 'DELETE', `/v1/webhooks/${registered.webhookId}`);
        delete registered.webhookId;
        delete registered.secret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret = '' }: Registered = this.getWorkflowStaticData('node');
    const { rawBody } = this.getRequestObject();
    const headers = this.getHeaderData() as Record<string, unknown>;
    if (secret === '' || !isSigned({ headers, body: rawBody, secret, now: Date.now() / 1000 })) {
      this.getResponseObject().status(401).send('The signature is not of the webhook of this workflow.').end();
      return { noWebhookResponse: true };
    }
    return { workflowData: [this.helpers.returnJsonArray(this.getBodyData())] };
  }
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

async function send<T>(
  context: IHookFunctions,
  method: NonNullable<IHttpRequestOptions['method']>,
  url: string,
  body?: IDataObject,
): Promise<T> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>('scanlogApi');
  try {
    return await context.helpers.httpRequestWithAuthentication.call(context, 'scanlogApi', {
      method,
      baseURL: baseUrl.replace(/\/+$/, ''),
      url,
      json: true,
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject);
  }
}
