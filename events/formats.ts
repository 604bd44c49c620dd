import { FormatRegistry } from '@sinclair/typebox';

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

// TypeBox rejects every value of a format that is not registered. Elysia registers this one, and some commands do not load it.
if (!FormatRegistry.Has('date-time'))
  FormatRegistry.Set('date-time', (value) => rfc3339.test(value) && !Number.isNaN(Date.parse(value)));
