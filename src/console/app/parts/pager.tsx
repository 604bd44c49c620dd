import { number } from '../format.ts';
import { Icon } from '../icons.tsx';

interface Props {
  what: string;
  pagination: { page: number; limit: number; total: number; total_pages: number };
  onPage(page: number): void;
}

export function Pager({ what, pagination: { page, limit, total, total_pages }, onPage }: Props) {
  if (total_pages <= 1 && page === 1) return null;
  const first = (page - 1) * limit + 1;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span>
        {number(Math.min(first, total))}–{number(Math.min(page * limit, total))} of {number(total)}
      </span>
      <button type="button" class="button" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <Icon name="back" />
        <span>Previous</span>
      </button>
      <button type="button" class="button" disabled={page >= total_pages} onClick={() => onPage(page + 1)}>
        <span>Next</span>
        <Icon name="next" />
      </button>
    </nav>
  );
}
