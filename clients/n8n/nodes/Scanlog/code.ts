import type { INodeProperties } from 'n8n-workflow';

const showFor = (...operation: string[]) => ({ show: { resource: ['code'], operation } });

const operations: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  displayOptions: { show: { resource: ['code'] } },
  options: [
    {
      name: 'Create',
      value: 'create',
      action: 'Create a code',
      description: 'Create a QR code whose destination can be changed later',
      routing: { request: { method: 'POST', url: '/v1/qrcodes' } },
    },
    {
      name: 'Delete',
      value: 'delete',
      action: 'Delete a code',
      description: 'Delete a code for good: its printed image stops working',
      routing: { request: { method: 'DELETE', url: '=/v1/qrcodes/{{$parameter.qrId}}' } },
    },
    {
      name: 'Get',
      value: 'get',
      action: 'Get a code',
      description: 'Get a code with its style, rules and scan counts',
      routing: { request: { method: 'GET', url: '=/v1/qrcodes/{{$parameter.qrId}}' } },
    },
    {
      name: 'Get Many',
      value: 'getAll',
      action: 'Get many codes',
      description: 'Get many codes, newest first',
      routing: {
        request: { method: 'GET', url: '/v1/qrcodes' },
        output: { postReceive: [{ type: 'rootProperty', properties: { property: 'data' } }] },
      },
    },
    {
      name: 'Update',
      value: 'update',
      action: 'Update a code',
      description: 'Change where a code leads, or pause it',
      routing: { request: { method: 'PATCH', url: '=/v1/qrcodes/{{$parameter.qrId}}' } },
    },
  ],
  default: 'create',
};

const bodyField = (property: string) => ({ send: { type: 'body' as const, property } });
const queryField = (property: string) => ({ send: { type: 'query' as const, property } });

/** Tags are one text in n8n and a list in the API. */
const tagList = {
  send: {
    type: 'body' as const,
    property: 'tags',
    value: '={{ $value.split(",").map((tag) => tag.trim()).filter((tag) => tag) }}',
  },
};

/** Optional fields of new and of changed codes. */
const commonFields: INodeProperties[] = [
  {
    displayName: 'Expires At',
    name: 'expiresAt',
    type: 'dateTime',
    default: '',
    description: 'When the link stops redirecting',
    routing: { send: { type: 'body', property: 'expires_at', value: '={{ new Date($value).toISOString() }}' } },
  },
  {
    displayName: 'Fallback URL',
    name: 'fallbackUrl',
    type: 'string',
    default: '',
    description: 'Where scans lead before the start, after the end, and beyond the limit',
    routing: bodyField('fallback_url'),
  },
  {
    displayName: 'Maximum Scans',
    name: 'maxScans',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 100,
    description: 'After this many scans the link stops redirecting',
    routing: bodyField('max_scans'),
  },
  {
    displayName: 'Note',
    name: 'note',
    type: 'string',
    default: '',
    description: 'A text for people who manage the code',
    routing: bodyField('note'),
  },
  {
    displayName: 'Tags',
    name: 'tags',
    type: 'string',
    default: '',
    placeholder: 'e.g. summer, tables',
    description: 'Tags, separated by commas',
    routing: tagList,
  },
];

const createFields: INodeProperties[] = [
  {
    displayName: 'Name',
    name: 'name',
    type: 'string',
    required: true,
    default: '',
    displayOptions: showFor('create'),
    routing: bodyField('name'),
  },
  {
    displayName: 'Destination URL',
    name: 'destinationUrl',
    type: 'string',
    required: true,
    default: '',
    placeholder: 'e.g. https://example.com/menu',
    displayOptions: showFor('create'),
    routing: bodyField('destination_url'),
  },
  {
    displayName: 'Additional Fields',
    name: 'additionalFields',
    type: 'collection',
    placeholder: 'Add Field',
    default: {},
    displayOptions: showFor('create'),
    options: [
      {
        displayName: 'Domain',
        name: 'domain',
        type: 'string',
        default: '',
        placeholder: 'e.g. go.example.com',
        description: 'Custom domain of the short link',
        routing: bodyField('domain'),
      },
      ...commonFields,
      {
        displayName: 'Short Code',
        name: 'shortCode',
        type: 'string',
        default: '',
        description: 'End of the short link. Generated if empty, and never free again once it is chosen.',
        routing: bodyField('short_code'),
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'options',
        options: [
          { name: 'Active', value: 'active' },
          { name: 'Draft', value: 'draft' },
        ],
        default: 'active',
        description: 'Whether the link redirects at once',
        routing: bodyField('status'),
      },
    ],
  },
];

const updateFields: INodeProperties[] = [
  {
    displayName: 'Update Fields',
    name: 'updateFields',
    type: 'collection',
    placeholder: 'Add Field',
    default: {},
    displayOptions: showFor('update'),
    options: [
      {
        displayName: 'Active',
        name: 'active',
        type: 'boolean',
        default: true,
        description: 'Whether the link redirects. Turn it off to pause the code.',
        routing: bodyField('active'),
      },
      {
        displayName: 'Destination URL',
        name: 'destinationUrl',
        type: 'string',
        default: '',
        routing: bodyField('destination_url'),
      },
      ...commonFields,
      { displayName: 'Name', name: 'name', type: 'string', default: '', routing: bodyField('name') },
    ],
  },
];

const listFields: INodeProperties[] = [
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    description: 'Whether to return all results or only up to a given limit',
    displayOptions: showFor('getAll'),
    routing: {
      send: { paginate: '={{ $value }}', type: 'query', property: 'limit', value: '={{ $value ? 100 : undefined }}' },
      operations: {
        pagination: {
          type: 'generic',
          properties: {
            continue: '={{ typeof $response.body?.next === "string" }}',
            request: { qs: { after: '={{ $response.body?.next ?? undefined }}' } },
          },
        },
      },
    },
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    typeOptions: { minValue: 1, maxValue: 100 },
    default: 50,
    description: 'Max number of results to return',
    displayOptions: { show: { resource: ['code'], operation: ['getAll'], returnAll: [false] } },
    routing: queryField('limit'),
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add Filter',
    default: {},
    displayOptions: showFor('getAll'),
    options: [
      {
        displayName: 'Search',
        name: 'q',
        type: 'string',
        default: '',
        description: 'Text in the name, destination, short code or note',
        routing: queryField('q'),
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'options',
        options: [
          { name: 'Active', value: 'active' },
          { name: 'Draft', value: 'draft' },
          { name: 'Paused', value: 'paused' },
        ],
        default: 'active',
        routing: queryField('status'),
      },
      { displayName: 'Tag', name: 'tag', type: 'string', default: '', routing: queryField('tag') },
    ],
  },
];

/** What the node can do with codes. */
export const codeProperties: INodeProperties[] = [
  operations,
  {
    displayName: 'Code ID',
    name: 'qrId',
    type: 'string',
    required: true,
    default: '',
    placeholder: 'e.g. qr_0VMNcq2hE3kx0dTtWq8LbY',
    displayOptions: showFor('delete', 'get', 'update'),
  },
  ...createFields,
  ...updateFields,
  ...listFields,
];
