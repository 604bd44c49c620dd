import type { CodeEvent } from './code-events.ts';

/** What an event changes about a code. `schedule` and `query` stand for several fields; null for create and delete. */
export interface CodeDifference {
  field: string | null;
  from: unknown;
  to: unknown;
}

/** What an event changed, in the words of the API. */
export function differenceOf(event: CodeEvent): CodeDifference {
  switch (event.type) {
    case 'code_created': {
      const { account: _, mode: __, short_code_given: ___, ...created } = event.data;
      return { field: null, from: null, to: created };
    }
    case 'code_renamed':
      return { field: 'name', ...event.data };
    case 'destination_changed':
      return { field: 'destination_url', from: event.data.from, to: event.data.to };
    case 'rules_changed':
      return { field: 'rules', ...event.data };
    case 'schedule_changed':
      return { field: 'schedule', ...event.data };
    case 'limit_changed':
      return { field: 'max_scans', ...event.data };
    case 'limit_reached':
      return { field: 'availability', from: 'live', to: 'limit_reached' };
    case 'fallback_changed':
      return { field: 'fallback_url', ...event.data };
    case 'query_changed':
      return { field: 'query', ...event.data };
    case 'tags_changed':
      return { field: 'tags', ...event.data };
    case 'code_paused':
      return { field: 'status', from: 'active', to: 'paused' };
    case 'code_resumed':
      return { field: 'status', from: 'paused', to: 'active' };
    case 'code_published':
      return { field: 'status', from: 'draft', to: 'active' };
    case 'code_disabled':
      return { field: 'disabled', from: null, to: event.data.reason };
    case 'code_enabled':
      return { field: 'disabled', from: null, to: null };
    case 'code_restored':
      return { field: 'version', from: null, to: event.data.version };
    case 'code_deleted':
    case 'code_erased':
      return { field: null, from: null, to: null };
  }
}
