import { start } from '../start.tsx';
import { OperatorPage } from './page.tsx';

/** A script of its own, so that others do not load the pages of operators. */
start(({ path }) => <OperatorPage path={path.replace(/^\/operator/, '')} />);
