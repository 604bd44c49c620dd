import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, errorMessage } from '../api.ts';
import { displayUrl, number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { currentMode, navigate, pageUrl } from '../router.ts';
import type { Account, CreatedQrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { type ImportRow, maxRows, readRows } from './import-rows.ts';
import { checkShortCodes } from './short-code.ts';

const example = `name,destination_url,short_code
Table 1,https://example.com/menu?table=1,
Table 2,https://example.com/menu?table=2,
Terrace,https://example.com/terrace,terrace-26`;

/** Bulk creation: rows are parsed and validated in the browser before anything is sent. */
export function ImportPage() {
  const [text, setText] = useState('');
  const [skippedLines, setSkippedLines] = useState<ReadonlySet<number>>(new Set());
  const { busy, run } = useAction();
  const table = useMemo(() => readRows(text, bootstrap.short_base_url), [text]);
  const taken = useTakenShortCodes(table.rows);
  const remaining = useRemainingCodes();

  const rows = table.rows
    .filter(({ line }) => !skippedLines.has(line))
    .map((row) => {
      const error = taken.errors.get(row.short_code);
      return error === undefined || row.short_code === ''
        ? row
        : { ...row, errors: [...row.errors, `the short code ${error}`] };
    })
    .map((row, i) =>
      i < remaining ? row : { ...row, errors: [...row.errors, 'exceeds the number of codes in your plan'] },
    );
  const invalidRows = rows.filter(({ errors }) => errors.length > 0);

  const create = () =>
    run(async () => {
      const qrcodes = rows.map(({ name, destination_url, short_code, style }) => ({
        ...{ name, destination_url, style },
        ...(short_code === '' ? {} : { short_code }),
      }));
      const { data } = await api.post<{ data: CreatedQrCode[] }>('/qrcodes/bulk', { qrcodes });
      toast(`${plural(data.length, 'code')} created.`);
      navigate(pageUrl('/'));
    });

  return (
    <>
      <Heading
        title="Import codes"
        lead={`Up to ${number(maxRows)} codes at once. If one row fails, none are created.`}
      />
      <Source
        text={text}
        onText={(next) => {
          setText(next);
          setSkippedLines(new Set());
        }}
      />
      {table.error !== undefined && (
        <p class="error" role="alert">
          {table.error}
        </p>
      )}
      {rows.length > 0 && (
        <>
          <ImportBar
            rowCount={rows.length}
            invalidCount={invalidRows.length}
            isChecking={!taken.isComplete}
            isBusy={busy}
            onSkip={() => setSkippedLines(new Set([...skippedLines, ...invalidRows.map(({ line }) => line)]))}
            onCreate={create}
          />
          <Rows rows={rows} />
        </>
      )}
    </>
  );
}

interface ImportBarProps {
  rowCount: number;
  invalidCount: number;
  isChecking: boolean;
  isBusy: boolean;
  onSkip(): void;
  onCreate(): void;
}

/** The result of the validation, with the buttons to skip invalid rows and to create the codes. */
function ImportBar({ rowCount, invalidCount, isChecking, isBusy, onSkip, onCreate }: ImportBarProps) {
  return (
    <div class="import-bar card" role="status">
      <strong>{plural(rowCount, 'code')}</strong>
      {invalidCount === 0 ? (
        <span class="good">
          <Icon name="check" /> {isChecking ? 'Checking short codes…' : 'All rows are valid'}
        </span>
      ) : (
        <>
          <span class="bad">
            <Icon name="warning" /> {plural(invalidCount, 'row has', 'rows have')} errors
          </span>
          <button type="button" class="button" onClick={onSkip}>
            Skip {plural(invalidCount, 'row')}
          </button>
        </>
      )}
      <button
        type="button"
        class="button primary"
        disabled={invalidCount > 0 || isChecking || isBusy}
        onClick={onCreate}
      >
        {isBusy ? 'Creating…' : `Create ${plural(rowCount, 'code')}`}
      </button>
    </div>
  );
}

function Source({ text, onText }: { text: string; onText(text: string): void }) {
  const [isDragOver, setIsDragOver] = useState(false);
  const readFile = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > 1024 * 1024) return toast('The file is larger than 1 MB. Split it into smaller files.', 'failed');
    await file.text().then(onText, (error) => toast(errorMessage(error), 'failed'));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: without a pointer, the user can paste or choose a file
    <div
      class={`card drop ${isDragOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setIsDragOver(true);
      }}
      onDragLeave={() => setIsDragOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsDragOver(false);
        readFile(event.dataTransfer?.files[0]);
      }}
    >
      <label for="csv">Paste rows from a spreadsheet, or drop a CSV file here</label>
      <textarea
        id="csv"
        rows={6}
        value={text}
        placeholder={example}
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <div class="actions">
        <label class="button">
          <Icon name="upload" />
          Choose file
          <input
            class="hidden"
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => readFile(event.currentTarget.files?.[0])}
          />
        </label>
        {text === '' && (
          <button type="button" class="button" onClick={() => onText(example)}>
            Use example
          </button>
        )}
        <span class="hint">
          Required columns: name and destination_url. Optional: short_code and any style field, such as dotsColor.
        </span>
      </div>
    </div>
  );
}

const Rows = ({ rows }: { rows: ImportRow[] }) => (
  <Scroll label="Rows" isCard>
    <table class="rows stacked">
      <thead>
        <tr>
          <th scope="col" class="number">
            Line
          </th>
          <th scope="col">Name</th>
          <th scope="col">Destination</th>
          <th scope="col">Short code</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ line, name, destination_url, short_code, errors }) => (
          <tr key={line} class={errors.length > 0 ? 'invalid' : ''}>
            <td class="number">{line}</td>
            <td>{name}</td>
            <td>{displayUrl(destination_url)}</td>
            <td>{short_code === '' ? <span class="muted">Generated</span> : short_code}</td>
            <td>
              {errors.length === 0 ? (
                <span class="good">
                  <Icon name="check" /> Valid
                </span>
              ) : (
                <span class="bad">{toSentence(errors)}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

const toSentence = (errors: string[]) => `${errors.join('; ').replace(/^./, (letter) => letter.toUpperCase())}.`;

/** Looks up which short codes are taken, 250 ms after the last change; `isComplete` once the result is there. */
function useTakenShortCodes(rows: ImportRow[]): { errors: Map<string, string>; isComplete: boolean } {
  const codes = [...new Set(rows.flatMap(({ short_code }) => (short_code === '' ? [] : [short_code])))];
  const key = codes.join('\n');
  const [result, setResult] = useState({ key: '', errors: new Map<string, string>() });
  useEffect(() => {
    if (key === '') return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      // If the check fails, the bulk request itself reports which short codes are taken.
      const { data } = await checkShortCodes(codes).catch(() => ({ data: [] }));
      const errors = new Map(
        data.flatMap(({ short_code, fault }) => (fault?.startsWith('is taken') ? [[short_code, fault] as const] : [])),
      );
      if (isCurrent) setResult({ key, errors });
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return result.key === key
    ? { errors: result.errors, isComplete: true }
    : { errors: new Map(), isComplete: key === '' };
}

/** The number of codes that the plan still allows; unlimited in test mode. */
function useRemainingCodes(): number {
  const { data } = useResource<Account>('/account');
  if (currentMode() === 'test' || data === undefined || data.limits.qr_codes === null) return Number.POSITIVE_INFINITY;
  return data.limits.qr_codes - data.usage.qr_codes;
}
