import type { INodeProperties } from 'n8n-workflow';

const show = { resource: ['analytics'], operation: ['summary'] };

/** A day in n8n has a time and no offset. The API takes days, the last one in full. */
const day = (property: string) => ({
  send: { type: 'query' as const, property, value: '={{ String($value).slice(0, 10) }}' },
});

/** What the node can do with analytics. */
export const analyticsProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['analytics'] } },
    options: [
      {
        name: 'Get Summary',
        value: 'summary',
        action: 'Get a summary of scans',
        description: 'Count scans and visitors of a code, by country, city, device and browser',
        routing: { request: { method: 'GET', url: '=/v1/qrcodes/{{$parameter.qrId}}/analytics' } },
      },
    ],
    default: 'summary',
  },
  {
    displayName: 'Code ID',
    name: 'qrId',
    type: 'string',
    required: true,
    default: '',
    placeholder: 'e.g. qr_0VMNcq2hE3kx0dTtWq8LbY',
    displayOptions: { show },
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add Option',
    default: {},
    displayOptions: { show },
    options: [
      {
        displayName: 'Bots',
        name: 'bots',
        type: 'options',
        options: [
          { name: 'Exclude', value: 'exclude' },
          { name: 'Include', value: 'include' },
          { name: 'Only', value: 'only' },
        ],
        default: 'include',
        description: 'Whether scans by bots are counted',
        routing: { send: { type: 'query', property: 'bots' } },
      },
      { displayName: 'End Date', name: 'endDate', type: 'dateTime', default: '', routing: day('end_date') },
      {
        displayName: 'Start Date',
        name: 'startDate',
        type: 'dateTime',
        default: '',
        description: 'First day. Default: 30 days before the end.',
        routing: day('start_date'),
      },
      {
        displayName: 'Time Zone',
        name: 'timezone',
        type: 'string',
        default: 'UTC',
        placeholder: 'e.g. Europe/Berlin',
        routing: { send: { type: 'query', property: 'timezone' } },
      },
    ],
  },
];
