import { useId } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { displayDestination } from './destination.ts';
import type { ImportField, ImportRow } from './import-rows.ts';

interface Props {
  rows: ImportRow[];
  isEditable(row: ImportRow): boolean;
  onEdit(line: number, field: ImportField, value: string): void;
}

export const ImportTable = ({ rows, isEditable, onEdit }: Props) => (
  <Scroll label="Rows" isCard>
    <table class="rows stacked">
      <thead>
        <tr>
          <th scope="col" class="number">
            Line
          </th>
          <th scope="col">Name</th>
          <th scope="col">Destination</th>
          <th scope="col">Short link</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) =>
          isEditable(row) ? (
            <EditableRow key={row.line} row={row} onEdit={(field, value) => onEdit(row.line, field, value)} />
          ) : (
            <PlainRow key={row.line} row={row} />
          ),
        )}
      </tbody>
    </table>
  </Scroll>
);

const PlainRow = ({ row }: { row: ImportRow }) => (
  <tr class={row.errors.length > 0 ? 'invalid' : ''}>
    <td class="number">{row.line}</td>
    <td>{row.name}</td>
    <td>{displayDestination(row.destination_url)}</td>
    <td>{row.short_code === '' ? <span class="muted">Generated</span> : row.short_code}</td>
    <td>
      <RowStatus row={row} />
    </td>
  </tr>
);

const labels: Record<string, string> = { name: 'Name', destination_url: 'Destination', short_code: 'Short link' };

function EditableRow({ row, onEdit }: { row: ImportRow; onEdit(field: ImportField, value: string): void }) {
  const statusId = useId();
  const input = (field: ImportField) => (
    <div class="input">
      <input
        type="text"
        aria-label={`${labels[field] ?? field}, line ${row.line}`}
        aria-invalid={row.errors.some((error) => error.field === field)}
        aria-describedby={statusId}
        autocomplete="off"
        spellcheck={false}
        autocapitalize="none"
        placeholder={field === 'short_code' ? 'Generated' : (labels[field] ?? field)}
        value={row.cells[field] ?? ''}
        onInput={(event) => onEdit(field, event.currentTarget.value)}
      />
    </div>
  );
  const styleFields = (Object.keys(row.cells) as ImportField[]).filter(
    (field) => !(field in labels) && (row.cells[field] ?? '') !== '',
  );
  return (
    <tr class={row.errors.length > 0 ? 'invalid' : ''}>
      <td class="number">{row.line}</td>
      <td>{input('name')}</td>
      <td>{input('destination_url')}</td>
      <td>{input('short_code')}</td>
      <td id={statusId}>
        <RowStatus row={row} />
        {styleFields.map((field) => (
          <div key={field}>
            <span class="hint">{field}</span>
            {input(field)}
          </div>
        ))}
      </td>
    </tr>
  );
}

function RowStatus({ row: { errors, warning } }: { row: ImportRow }) {
  if (errors.length > 0) return <span class="bad">{toSentence(errors.map(({ message }) => message))}</span>;
  return (
    <>
      <span class="good">
        <Icon name="check" /> Valid
      </span>
      {warning !== undefined && <p class="hint">{warning}</p>}
    </>
  );
}

/** Not capitalized: names of fields and schemes. */
const toSentence = (errors: string[]) =>
  `${errors.join('; ').replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())}.`;
