import { type INodeType, type INodeTypeDescription, NodeConnectionTypes } from 'n8n-workflow';
import { analyticsProperties } from './analytics';
import { codeProperties } from './code';

export class Scanlog implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Scanlog',
    name: 'scanlog',
    icon: { light: 'file:../../icons/scanlog.svg', dark: 'file:../../icons/scanlog.dark.svg' },
    group: ['output'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Create and change dynamic QR codes, and count their scans',
    defaults: { name: 'Scanlog' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'scanlogApi', required: true }],
    requestDefaults: {
      baseURL: '={{$credentials.baseUrl.replace(/[/]+$/, "")}}',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    },
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: [
          { name: 'Analytic', value: 'analytics' },
          { name: 'Code', value: 'code' },
        ],
        default: 'code',
      },
      ...codeProperties,
      ...analyticsProperties,
    ],
  };
}
