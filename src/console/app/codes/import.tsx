import { useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, api } from '../api.ts';
import { number, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Heading } from '../parts/heading.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { Segments } from '../parts/segments.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { navigate, pageUrl, setQuery, useRoute } from '../router.ts';
import type { CreatedQrCode } from '../types.ts';
import { accountTimeZone, bootstrap } from '../welcome.ts';
import { LinksImport } from './import-links.tsx';
import { ImportLook } from './import-look.tsx';
import {
  checkRows,
  type ImportField,
  type ImportRow,
  maxRows,
  type RowError,
  readTable,
  refusedCells,
  type TableRow,
} from './import-rows.ts';
import { ImportSource, type SourceText } from './import-source.tsx';
import { styleColumns } from './import-style.ts';
import { ImportTable } from './import-table.tsx';
import { PlanFull, type PlanUsage, usePlanUsage } from './plan-full.tsx';
import { useTakenShortCodes } from './short-code.ts';
import { type Style, withoutDefaults } from './style.ts';

/** Cells that the user has changed, by line. */
type Edits = ReadonlyMap<number, TableRow['cells']>;

const kinds = [
  ['table', 'A table of your own'],
  ['service', 'Links of another service'],
] as const;

/** Codes from a table, or from the export of another service, which the query parameter `from` names. */
export function ImportPage() {
  const kind = useRoute().query.get('from') === 'service' ? 'service' : 'table';
  const usage = usePlanUsage();
  return (
    <>
      <Heading
        title="Import codes"
        lead={
          kind === 'table'
            ? `Up to ${number(maxRows)} codes at once. If one row fails, none are created.`
            : 'From Bitly, Dub, Shlink, Kutt, YOURLS, Rebrandly, Short.io or any table. What is possible is imported.'
        }
      />
      <div class="kinds">
        <Segments
          label="What to import"
          options={kinds}
          value={kind}
          onValue={(next) => setQuery({ from: next === 'service' ? next : undefined })}
        />
      </div>
      <PlanFull usage={usage} />
      {kind === 'service' ? <LinksImport /> : <TableImport usage={usage} />}
    </>
  );
}

/** Bulk creation: rows are parsed, validated and corrected in the browser before anything is sent. */
function TableImport({ usage }: { usage: PlanUsage | undefined }) {
  const [source, setSource] = useState<SourceText>({ text: '', converted: undefined });
  const [skippedLines, setSkippedLines] = useState<ReadonlySet<number>>(new Set());
  const [edits, setEdits] = useState<Edits>(new Map());
  const [style, setStyle] = useState<Style>({});
  const [refused, setRefused] = useState<ReadonlyMap<number, RowError[]>>(new Map());
  const { busy, run } = useAction();
  const table = useMemo(() => readTable(source.text), [source.text]);
  const checked = useMemo(() => checkAll(table.rows, edits, skippedLines, style), [table, edits, skippedLines, style]);
  // The service checks those on custom domains.
  const taken = useTakenShortCodes(checked.flatMap(({ short_code, domain }) => (domain === '' ? [short_code] : [])));

  const rows = checked.map((row, i): ImportRow => {
    const takenBy = row.domain === '' ? taken.errors.get(row.short_code) : undefined;
    const errors = [
      ...row.errors,
      ...(refused.get(row.line) ?? []),
      ...(takenBy === undefined ? [] : [{ field: 'short_code' as const, message: `the short code ${takenBy}` }]),
      ...(i < (usage?.left ?? Number.POSITIVE_INFINITY)
        ? []
        : [{ field: undefined, message: 'exceeds the number of codes in your plan' }]),
    ];
    return { ...row, errors };
  });
  const invalidRows = rows.filter(({ errors }) => errors.length > 0);
  const edit = (line: number, field: ImportField, value: string) => {
    setEdits(new Map(edits).set(line, { ...edits.get(line), [field]: value }));
    // What the service refused may be right now: it checks the row again.
    setRefused(new Map([...refused].filter(([refusedLine]) => refusedLine !== line)));
  };

  const create = () =>
    run(async () => {
      const qrcodes = rows.map(({ name, destination_url, short_code, domain, style, targeting }) => ({
        name,
        destination_url,
        style,
        ...targeting,
        ...(short_code === '' ? {} : { short_code }),
        ...(domain === '' ? {} : { domain }),
      }));
      const { data } = await api.post<{ data: CreatedQrCode[] }>('/qrcodes/bulk', { qrcodes }).catch((error) => {
        if (!(error instanceof ApiError)) throw error;
        const isTaken = error.code === 'short_code_taken';
        // Taken since the check: the next check shows which. Those on custom domains are checked only now.
        if (isTaken) taken.forget();
        const isShown = ({ index = -1 }: { index?: number }) => !isTaken || rows[index]?.domain !== '';
        const cells = refusedCells(rows, error.details.filter(isShown));
        if (cells.size === 0) throw error;
        setRefused(cells);
        throw new Error(`Nothing was created: ${plural(cells.size, 'row has', 'rows have')} errors.`);
      });
      toast(`${plural(data.length, 'code')} created.`);
      navigate(pageUrl('/'));
    });

  return (
    <>
      <ImportSource
        source={source}
        onSource={(next) => {
          setSource(next);
          setSkippedLines(new Set());
          setEdits(new Map());
          setRefused(new Map());
        }}
      />
      <ImportLook
        style={style}
        onStyle={(next) => {
          setStyle(next);
          // The service may have refused the style.
          setRefused(new Map());
        }}
      />
      {table.error !== undefined && (
        <p class="error" role="alert">
          {table.error}
        </p>
      )}
      {table.unusedColumns.length > 0 && (
        <p class="row nowrap verdict bad" role="status">
          <Icon name="warning" />
          <span>
            Not used: {table.unusedColumns.map((title) => `“${title}”`).join(', ')}. Known columns are Name,
            Destination, Short link, Domain, Tags, Starts, Ends, Scan limit, Fallback, Note and{' '}
            {styleColumns.join(', ')}.
          </span>
        </p>
      )}
      {rows.length > 0 && (
        <>
          <PrintWarning url={bootstrap.short_base_url} />
          <ImportBar
            rowCount={rows.length}
            invalidCount={invalidRows.length}
            isChecking={!taken.isComplete}
            isBusy={busy}
            onSkip={() => setSkippedLines(new Set([...skippedLines, ...invalidRows.map(({ line }) => line)]))}
            onCreate={create}
          />
          <Rows key={source.text} rows={rows} onEdit={edit} />
        </>
      )}
    </>
  );
}

function checkAll(rows: TableRow[], edits: Edits, skipped: ReadonlySet<number>, style: Style): ImportRow[] {
  const edited = rows
    .filter(({ line }) => !skipped.has(line))
    .map(({ line, cells }) => ({ line, cells: { ...cells, ...edits.get(line) } }));
  return checkRows(edited, {
    shortBaseUrl: bootstrap.short_base_url,
    ownUrls: [location.origin],
    timeZone: accountTimeZone(),
    style: withoutDefaults(style),
  });
}

/** Rows that are or were wrong come first, and stay there: a row must not move away while it is corrected. */
function Rows({ rows, onEdit }: { rows: ImportRow[]; onEdit(line: number, field: ImportField, value: string): void }) {
  const wrongLines = useRef(new Set<number>());
  for (const { line, errors } of rows)
    if (errors.some(({ field }) => field !== undefined)) wrongLines.current.add(line);
  const isEditable = ({ line }: ImportRow) => wrongLines.current.has(line);
  return (
    <ImportTable
      rows={[...rows.filter(isEditable), ...rows.filter((row) => !isEditable(row))]}
      isEditable={isEditable}
      onEdit={onEdit}
    />
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
    <div class="card row import-bar" role="status">
      <strong>{plural(rowCount, 'code')}</strong>
      {invalidCount === 0 ? (
        <span class="good">
          <Icon name="check" /> {isChecking ? 'Checking short codes…' : 'All rows are valid'}
        </span>
      ) : (
        <>
          <span class="bad">
            <Icon name="warning" /> {plural(invalidCount, 'row has', 'rows have')} errors. Correct them below, or skip
            them.
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
