import { Menu } from '../parts/menu.tsx';
import { columns, display, everyColumn } from './display.ts';

/** Which columns the list has, and how high its rows are. */
export function DisplayMenu() {
  const shown = display.use();
  return (
    <Menu
      label="Display"
      buttonClass="button"
      button={
        <>
          Display
          <span aria-hidden="true">▾</span>
        </>
      }
    >
      <form class="stack gap-none menu-form">
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={shown.isCompact}
            onChange={(event) => display.write({ columns: shown.columns, isCompact: event.currentTarget.checked })}
          />
          <span>Compact rows</span>
        </label>
        <fieldset class="stack gap-none">
          <legend class="hint">Columns</legend>
          {columns.map(([column, text]) => (
            <label key={column} class="row nowrap check">
              <input
                type="checkbox"
                checked={shown.columns.includes(column)}
                onChange={(event) => {
                  const isShown = event.currentTarget.checked;
                  display.write({
                    columns: everyColumn.filter((other) =>
                      other === column ? isShown : shown.columns.includes(other),
                    ),
                    isCompact: shown.isCompact,
                  });
                }}
              />
              <span>{text}</span>
            </label>
          ))}
        </fieldset>
      </form>
    </Menu>
  );
}
