/** A file of its own, because it is a tenth of the console and most pages have no chart. */
export { default } from 'uplot';
