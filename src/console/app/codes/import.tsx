import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, messageOf } from '../api.ts';
import { bare, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../resource.ts';
import { currentMode, navigate, pageUrl } from '../router.ts';
import type { Account, CreatedQrCode } from '../types.ts';
import { welcome } from '../welcome.ts';
import { type ImportRow, mostRows, readRows } from './import-rows.ts';
import { checkAll } from './short-code.ts';

const example = `name,destination_url,short_code
Table 1,https://example.com/menu?table=1,
Table 2,https://example.com/menu?table=2,
Terrace,https://example.com/terrace,terrace-26`;

/** Many codes at once: read and checked here, row by row, before anything is sent. */
export function ImportPage() {
  const [text, setText] = useState('');
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const { busy, run } = useAction();
  const read = useMemo(() => readRows(text, welcome.short_base_url), [text]);
  const taken = useTaken(read.rows);
  const room = useRoom();

  const rows = read.rows
    .filter(({ line }) => !leftOut.has(line))
    .map((row) => {
      const fault = taken.faults.get(row.short_code);
      return fault === undefined || row.short_code === ''
        ? row
        : { ...row, faults: [...row.faults, `the short code ${fault}`] };
    })
    .map((row, i) => (i < room ? row : { ...row, faults: [...row.faults, 'it is more than your plan has room for'] }));
  const faulty = rows.filter(({ faults }) => faults.length > 0);
  const isReady = rows.length > 0 && faulty.length === 0 && taken.isKnown;

  const create = () =>
    run(async () => {
      const qrcodes = rows.map(({ name, destination_url, short_code, style }) => ({
        ...{ name, destination_url, style },
        ...(short_code === '' ? {} : { short_code }),
      }));
      const { data } = await api.post<{ data: CreatedQrCode[] }>('/qrcodes/bulk', { qrcodes });
      toast(`${plural(data.length, 'code')} made.`);
      navigate(pageUrl('/'));
    });

  return (
    <>
      <Heading title="Import codes" lead={`Up to ${mostRows} at once: all of them are made, or none.`} />
      <Source
        text={text}
        onText={(next) => {
          setText(next);
          setLeftOut(new Set());
        }}
      />
      {read.fault !== undefined && (
        <p class="fault" role="alert">
          {read.fault}
        </p>
      )}
      {rows.length > 0 && (
        <>
          <div class="import-bar card" role="status">
            <strong>{plural(rows.length, 'code')}</strong>
            {faulty.length === 0 ? (
              <span class="good">
                <Icon name="check" /> {taken.isKnown ? 'Everything fits' : 'Looking whether the short codes are free …'}
              </span>
            ) : (
              <>
                <span class="bad">
                  <Icon name="warning" /> {plural(faulty.length, 'row needs', 'rows need')} mending
                </span>
                <button
                  type="button"
                  class="button"
                  onClick={() => setLeftOut(new Set([...leftOut, ...faulty.map(({ line }) => line)]))}
                >
                  Leave {faulty.length === 1 ? 'it' : 'them'} out
                </button>
              </>
            )}
            <button type="button" class="button primary" disabled={!isReady || busy} onClick={create}>
              {busy ? 'Creating …' : `Create ${plural(rows.length, 'code')}`}
            </button>
          </div>
          <Rows rows={rows} />
        </>
      )}
    </>
  );
}

function Source({ text, onText }: { text: string; onText(text: string): void }) {
  const [isOver, setIsOver] = useState(false);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > 1024 * 1024) return toast('The file has more than 1 MB: split it.', 'failed');
    await file.text().then(onText, (error) => toast(messageOf(error), 'failed'));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: who cannot drop a file chooses it, or pastes
    <div
      class={`card drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        open(event.dataTransfer?.files[0]);
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
          Choose a file
          <input
            class="hidden"
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
        </label>
        {text === '' && (
          <button type="button" class="button" onClick={() => onText(example)}>
            Try the example
          </button>
        )}
        <span class="hint">
          Columns: name, destination_url and, if you like, short_code and any field of the style, such as dotsColor.
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
          <th scope="col">Check</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ line, name, destination_url, short_code, faults }) => (
          <tr key={line} class={faults.length > 0 ? 'faulty' : ''}>
            <td class="number">{line}</td>
            <td>{name}</td>
            <td>{bare(destination_url)}</td>
            <td>{short_code === '' ? <span class="muted">made for you</span> : short_code}</td>
            <td>
              {faults.length === 0 ? (
                <span class="good">
                  <Icon name="check" /> Fits
                </span>
              ) : (
                <span class="bad">{sentence(faults)}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

const sentence = (faults: string[]) => `${faults.join('; ').replace(/^./, (letter) => letter.toUpperCase())}.`;

/** Which of the short codes that are well-formed somebody else has, asked a moment after the last change. */
function useTaken(rows: ImportRow[]): { faults: Map<string, string>; isKnown: boolean } {
  const codes = [...new Set(rows.flatMap(({ short_code }) => (short_code === '' ? [] : [short_code])))];
  const key = codes.join('\n');
  const [answer, setAnswer] = useState({ key: '', faults: new Map<string, string>() });
  useEffect(() => {
    if (key === '') return undefined;
    let isWanted = true;
    const timer = setTimeout(async () => {
      // Should this fail, the service says which are taken when the codes are made.
      const { data } = await checkAll(codes).catch(() => ({ data: [] }));
      const faults = new Map(
        data.flatMap(({ short_code, fault }) => (fault?.startsWith('is taken') ? [[short_code, fault] as const] : [])),
      );
      if (isWanted) setAnswer({ key, faults });
    }, 250);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [key]);
  return answer.key === key ? { faults: answer.faults, isKnown: true } : { faults: new Map(), isKnown: key === '' };
}

/** How many more codes the plan allows; test codes are not counted. */
function useRoom(): number {
  const { data } = useResource<Account>('/account');
  if (currentMode() === 'test' || data === undefined || data.limits.qr_codes === null) return Number.POSITIVE_INFINITY;
  return data.limits.qr_codes - data.usage.qr_codes;
}
