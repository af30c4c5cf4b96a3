import { GoogleGenAI } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';

/** A client of Gemini on Vertex AI that sends this token. */
export function vertexClient(baseUrl: string, token: string): GoogleGenAI {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: token, expiry_date: Date.now() + 3_600_000 });
  return new GoogleGenAI({
    vertexai: true,
    project: 'my-project',
    location: 'us-central1',
    googleAuthOptions: { authClient },
    httpOptions: { baseUrl },
  });
}
