import type { Elysia } from 'elysia';
import type { Operation } from '../../api/http/operation.ts';
import { mount } from '../../api/mount.ts';
import type { Service } from '../../api/service.ts';
import type { Console } from '../context.ts';
import { targetParameters } from '../session-admission.ts';
import { accountOperations } from './accounts.ts';
import { operatorAdmission } from './admission.ts';
import { codeOperations } from './codes.ts';
import { healthOperations } from './health.ts';
import { userOperations } from './users.ts';

export const operatorOperations = (service: Service): Operation[] => [
  ...accountOperations(service),
  ...codeOperations(service),
  ...userOperations(service),
  ...healthOperations(service),
];

/** Mounts what operators of the service do in the console, under /console/api/operator. It is no part of the public API. */
export function serveOperator(app: Elysia, console: Console): void {
  const { service, api, log } = console;
  mount(app, operatorOperations(service), {
    base: '/console/api/operator',
    admit: api.whenReady(operatorAdmission(console)),
    parameters: targetParameters,
    log,
    tracing: service.tracing,
  });
}
