import { compact, date, displayUrl } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { StatusBadge } from '../parts/states.tsx';
import { pageUrl } from '../router.ts';
import type { ListedQrCode } from '../types.ts';
import { displayDestination } from './destination.ts';
import type { Selection } from './use-selection.ts';

export function CodeTable({ codes, selection }: { codes: ListedQrCode[]; selection: Selection }) {
  const selectedCount = codes.filter(selection.has).length;
  return (
    <table class="codes card">
      <thead>
        <tr>
          <th scope="col" class="select">
            <label class="pick">
              <input
                type="checkbox"
                aria-label="Select all codes on this page"
                checked={selectedCount === codes.length}
                indeterminate={selectedCount > 0 && selectedCount < codes.length}
                onChange={(event) => selection.set(codes, event.currentTarget.checked)}
              />
              <span class="narrow">Select all</span>
            </label>
          </th>
          <th scope="col">Code</th>
          <th scope="col">Destination</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Scans, all time
          </th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {codes.map((code) => (
          <CodeRow key={code.id} code={code} selection={selection} />
        ))}
      </tbody>
    </table>
  );
}

function CodeRow({ code, selection }: { code: ListedQrCode; selection: Selection }) {
  const { id, name, destination_url, short_url, status, total_scans, created_at } = code;
  return (
    <tr>
      <td class="select">
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selection.has(code)}
            onChange={(event) => selection.set([code], event.currentTarget.checked)}
          />
        </label>
      </td>
      <td class="identity">
        <span class="thumb">
          <img src={`/images/${id}/public?size=128`} alt="" width="48" height="48" loading="lazy" />
        </span>
        <div>
          <a class="name" href={pageUrl(`/codes/${id}`)}>
            {name}
          </a>
          <span class="link">
            {displayUrl(short_url)}
            <Copy text={short_url} label={`Copy short link of ${name}`} />
          </span>
        </div>
      </td>
      <td class="destination" title={destination_url}>
        {displayDestination(destination_url)}
      </td>
      <td class="status">
        <StatusBadge status={status} />
      </td>
      <td class="number">
        {compact(total_scans)}
        <span class="unit"> {total_scans === 1 ? 'scan' : 'scans'}, all time</span>
      </td>
      <td class="created">{date(created_at)}</td>
    </tr>
  );
}
