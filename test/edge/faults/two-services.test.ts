import { brokenConnectionsSuite } from './broken-connections-suite.ts';
import { useTwoServices } from './fault-support.ts';
import { serversSuite } from './servers-suite.ts';
import { serviceSuite } from './service-suite.ts';

// One file, because starting servers and services takes more CPU than most of these tests.
const world = useTwoServices();

serversSuite(world);
serviceSuite(world);
brokenConnectionsSuite(world);
