import { Type } from '@sinclair/typebox';
import { notificationTypes, type ReportableEntry } from '../../events/notification-types.ts';

/**
 * One more entry in the table, as CONTRIBUTING.md describes it; nothing else of the service is changed. A test imports this
 * file first, in a process of its own, because the table is read when the modules that use it are loaded.
 */
Object.assign(notificationTypes, {
  'code.renamed': {
    entries: ['code_renamed'],
    summary: 'A code was renamed',
    schemaName: 'CodeRenamedEvent',
    occasion: 'Every new name of a code',
    timestamp: 'When the code was renamed.',
    data: Type.Object(
      {
        qr_id: Type.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
        from: Type.String({ examples: ['Old name'] }),
        to: Type.String({ examples: ['New name'] }),
      },
      { additionalProperties: false },
    ),
    dataOf: ({ stream, data }: ReportableEntry<'code_renamed'>) => ({ qr_id: stream, from: data.from, to: data.to }),
  },
});
