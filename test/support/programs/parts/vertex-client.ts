import { GoogleGenAI, type GoogleGenAIOptions } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';

export const project = 'my-project';
export const location = 'us-central1';

/** What makes a client of Google send this token. */
export function authOf(token: string): OAuth2Client {
  const client = new OAuth2Client();
  client.setCredentials({ access_token: token, expiry_date: Date.now() + 3_600_000 });
  return client;
}

/** A client of Gemini on Vertex AI that sends this token. */
export function vertexClient(
  baseUrl: string,
  token: string,
  given: GoogleGenAIOptions = {},
): GoogleGenAI {
  const googleAuthOptions = { authClient: authOf(token) };
  const httpOptions = { baseUrl };
  const where = { vertexai: true, project, location };
  return new GoogleGenAI({ ...where, googleAuthOptions, httpOptions, ...given });
}
