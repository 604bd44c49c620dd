import { useState } from 'preact/hooks';
import { apiUrl } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { DownloadOptions } from '../parts/download-fields.tsx';
import { errorsOf, initialFields, queryOf } from '../parts/download-options.ts';
import { PrintWarning } from '../parts/print-warning.tsx';
import type { QrCode } from '../types.ts';

export function DownloadDialog({ code, onClose }: { code: QrCode; onClose(): void }) {
  const [fields, setFields] = useState(initialFields);
  const errors = errorsOf(fields);
  const isValid = Object.keys(errors).length === 0;
  const { format } = fields;
  return (
    <Dialog title="Download code" onClose={onClose}>
      <div class="stack">
        <PrintWarning url={code.short_url} />
        <DownloadOptions
          fields={fields}
          errors={errors}
          set={(change) => setFields((before) => ({ ...before, ...change }))}
        />
        <div class="row actions">
          <a
            class="button primary"
            download
            href={apiUrl(`/qrcodes/${code.id}/download`, isValid ? queryOf(fields) : { format })}
            aria-disabled={!isValid}
            onClick={(event) => {
              if (!isValid) event.preventDefault();
            }}
          >
            <Icon name="download" />
            Download {format.toUpperCase()}
          </a>
        </div>
      </div>
    </Dialog>
  );
}
