import { useState } from 'preact/hooks';
import { planLabel } from '../../../qr/sheet/label.ts';
import {
  type Cell,
  cellsOf,
  pages,
  type SheetLayout,
  type StockLayout,
  stockLayouts,
} from '../../../qr/sheet/layouts.ts';
import { api } from '../api.ts';
import { compareNames, displayUrl, plural } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { PrintWarning } from '../parts/print-warning.tsx';
import { save } from '../parts/save.ts';
import { Segments } from '../parts/segments.tsx';
import { useAction } from '../parts/use-action.ts';
import type { ListedQrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';

/** As many as the service takes in one request. */
const maxLabels = 1_000;

const captions = [
  ['none', 'None'],
  ['name', 'Name'],
  ['short_url', 'Short link'],
] as const;
type Caption = (typeof captions)[number][0];

const layouts = Object.entries(stockLayouts) as [StockLayout, (typeof stockLayouts)[StockLayout]][];
const layoutGroups = [
  { label: 'A4', layouts: layouts.filter(([, { page }]) => page === pages.a4) },
  { label: 'US Letter', layouts: layouts.filter(([, { page }]) => page === pages.letter) },
];

/** Prints the selected codes on label sheets: a PDF file with one label for each, by name. */
export function PrintDialog({ codes: selected, onClose }: { codes: ListedQrCode[]; onClose(): void }) {
  const codes = selected.toSorted((a, b) => compareNames(a.name, b.name));
  const [layout, setLayout] = useState<StockLayout>('a4-3x8');
  const [caption, setCaption] = useState<Caption>('name');
  const [skip, setSkip] = useState('0');
  const { busy, run } = useAction();
  const { columns, rows } = stockLayouts[layout];
  const skipError =
    /^\d+$/.test(skip) && Number(skip) < columns * rows ? undefined : `Enter a number from 0 to ${columns * rows - 1}.`;
  const isTooMany = codes.length > maxLabels;
  const download = () =>
    run(async () => {
      const qr_ids = codes.map(({ id }) => id);
      const file = await api.fileFrom('/sheets', { qr_ids, layout, caption, skip: Number(skip) });
      save(file, `labels-${new Date().toISOString().slice(0, 10)}.pdf`);
      onClose();
    });
  return (
    <Dialog title={`Print ${plural(codes.length, 'label')}`} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (skipError === undefined && !isTooMany) download();
        }}
      >
        <PrintWarning url={bootstrap.short_base_url} />
        <LayoutField value={layout} onValue={setLayout} />
        <div class="stack gap-xs field">
          <span class="label" aria-hidden="true">
            Text on each label
          </span>
          <Segments
            label="Text on each label"
            options={captions}
            value={caption}
            onValue={(next) => setCaption(next)}
          />
        </div>
        <Field
          label="Labels already used on the first sheet"
          inputMode="numeric"
          value={skip}
          onValue={setSkip}
          error={skipError}
        />
        <SheetPreview
          codes={codes}
          layout={stockLayouts[layout]}
          caption={caption}
          skip={skipError === undefined ? Number(skip) : 0}
        />
        <p class="hint">Print at 100% or “actual size”, or the codes miss their labels.</p>
        {isTooMany && (
          <p class="row nowrap verdict bad">A sheet can have at most {maxLabels} labels. Select fewer codes.</p>
        )}
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary" disabled={busy || isTooMany || skipError !== undefined}>
            <Icon name="download" />
            {busy ? 'Preparing…' : 'Download PDF'}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const LayoutField = ({ value, onValue }: { value: StockLayout; onValue(value: StockLayout): void }) => (
  <div class="stack gap-xs field">
    <label for="sheet-layout">Label sheet</label>
    <select id="sheet-layout" value={value} onChange={(event) => onValue(event.currentTarget.value as StockLayout)}>
      {layoutGroups.map(({ label, layouts }) => (
        <optgroup key={label} label={label}>
          {layouts.map(([name, { columns, rows, label, product }]) => (
            <option key={name} value={name}>
              {`${label}, ${columns} × ${rows} (${product})`}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  </div>
);

interface PreviewProps {
  codes: ListedQrCode[];
  layout: SheetLayout;
  caption: Caption;
  skip: number;
}

/** The first sheet, with the images of its codes. */
function SheetPreview({ codes, layout, caption, skip }: PreviewProps) {
  const cells = cellsOf(layout);
  const sheets = Math.ceil((skip + codes.length) / cells.length);
  const { width, height } = layout.page;
  const summary = `${plural(codes.length, 'label')} on ${plural(sheets, 'sheet')}`;
  return (
    <figure class="stack gap-s sheet-preview">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Preview: ${summary}`}>
        <rect class="paper" width={width} height={height} />
        {cells.map((cell, i) => {
          const code = codes[i - skip];
          return (
            <g key={`${cell.x} ${cell.y}`} class={i < skip ? 'used' : undefined}>
              <rect class="cell" x={cell.x} y={cell.y} width={cell.width} height={cell.height} rx="1.5" />
              {i >= skip && code !== undefined && <LabelPreview cell={cell} code={code} caption={caption} />}
            </g>
          );
        })}
      </svg>
      <figcaption class="hint">{summary}</figcaption>
    </figure>
  );
}

/** The text is a sketch: the file fits it to the label. */
function LabelPreview({ cell, code, caption }: { cell: Cell; code: ListedQrCode; caption: Caption }) {
  const plan = planLabel(cell, caption !== 'none');
  const text = caption === 'name' ? code.name : displayUrl(code.short_url);
  return (
    <>
      <image {...plan.image} href={`/images/${code.id}/public?format=svg`} />
      {plan.caption !== undefined && (
        <svg
          aria-hidden="true"
          x={plan.caption.x}
          y={plan.caption.y}
          width={plan.caption.width}
          height={plan.caption.height}
        >
          <text
            x={plan.caption.align === 'left' ? 0 : '50%'}
            y="50%"
            dominant-baseline="middle"
            text-anchor={plan.caption.align === 'left' ? 'start' : 'middle'}
          >
            {text}
          </text>
        </svg>
      )}
    </>
  );
}
