import fc from 'fast-check';
import { propertySeed } from './seeded.ts';

// A failure prints its seed.
fc.configureGlobal({ seed: propertySeed() });

export { default } from 'fast-check';
