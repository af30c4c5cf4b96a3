import { webhookSecretVariable } from '../base/run-variables.ts';
import { type Form, refuse, refuseUnseen } from '../options/form.ts';
import { objectionToHost } from './address-objection.ts';
import { secretForm, signingKeys } from './signing-keys.ts';

/** The option `webhook`. The address is not shown: its path may be a secret. */
export const webhookForm: Form<string> = {
  allowed: `the URL of a receiver; the variable ${webhookSecretVariable} must hold its secret`,
  read: (text) => text,
  parse: (value, { environment }) => {
    if (typeof value !== 'string') return refuse(value);
    if (!URL.canParse(value)) return refuseUnseen('not a URL');
    const url = new URL(value);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') refuseUnseen('not https');
    if (url.username !== '' || url.password !== '') refuseUnseen('a URL with a password in it');
    const objection = objectionToHost(url);
    if (objection !== undefined) refuseUnseen(objection);
    const secret = environment[webhookSecretVariable]?.trim();
    if (!secret) refuseUnseen(`the variable ${webhookSecretVariable} is not set`);
    if (signingKeys(secret) === undefined) {
      refuseUnseen(`the variable ${webhookSecretVariable} does not hold ${secretForm}`);
    }
    url.hash = '';
    return url.href;
  },
};
