import { navigate, pageUrl } from '../router.ts';
import { isObject, stored } from '../stored.ts';
import { type Display, display, displayOf } from './display.ts';

/** Filters, order and display of the list under a name. */
export interface View {
  name: string;
  /** The query of the URL, without the page. */
  query: string;
  display: Display;
}

/** Parameters of the list's URL that a view keeps. */
const keptParameters = ['q', 'status', 'tag', 'domain', 'sort', 'limit'];
export const maxViews = 50;
export const maxViewNameLength = 60;

function viewsOf(value: unknown): View[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, maxViews).flatMap((view: unknown): View[] => {
    if (!isObject(view)) return [];
    const { name, query, display: shown } = view;
    if (typeof name !== 'string' || typeof query !== 'string') return [];
    return [{ name: name.slice(0, maxViewNameLength), query, display: displayOf(shown) }];
  });
}

export const views = stored('views', viewsOf);

/** The list as it is now, as a view. */
export const viewOf = (name: string, query: URLSearchParams, shown: Display): View => ({
  name,
  query: new URLSearchParams(
    keptParameters.flatMap((parameter) => {
      const value = query.get(parameter);
      return value === null || value === '' ? [] : [[parameter, value]];
    }),
  ).toString(),
  display: shown,
});

/** The view that the list shows. */
export const currentView = (all: View[], query: URLSearchParams, shown: Display): View | undefined =>
  all.find((view) => JSON.stringify(viewOf(view.name, query, shown)) === JSON.stringify(view));

/** Adds a view, or replaces the one of the same name. */
export const saveView = (view: View): void =>
  views.write([...views.read().filter(({ name }) => name !== view.name), view]);

export const deleteView = (name: string): void => views.write(views.read().filter((view) => view.name !== name));

export function openView(view: View): void {
  display.write(view.display);
  navigate(view.query === '' ? pageUrl('/') : `${pageUrl('/')}?${view.query}`);
}
