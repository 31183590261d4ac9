// Package annal is a client of the REST API, generated from its OpenAPI document.
package annal

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"os"
)

// Sender contains the credentials of requests. Keep the API key on your server.
type Sender struct{ Token, APIKey string }

// NewClient returns a client of the server in ANNAL_URL.
func (sender Sender) NewClient() (*ClientWithResponses, error) {
	url := os.Getenv("ANNAL_URL")
	if url == "" {
		url = "http://localhost:4000"
	}
	return NewClientWithResponses(url, WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		if sender.Token != "" {
			request.Header.Set("Authorization", "Bearer "+sender.Token)
		}
		if sender.APIKey != "" {
			request.Header.Set("x-api-key", sender.APIKey)
		}
		return nil
	}))
}

// NewForm returns the body of a registration and its content type.
func NewForm(name string, file []byte, fields map[string]string) (*bytes.Buffer, string, error) {
	body := &bytes.Buffer{}
	form := multipart.NewWriter(body)
	part, err := form.CreateFormFile("asset_file", name)
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(file); err != nil {
		return nil, "", err
	}
	for field, value := range fields {
		if err := form.WriteField(field, value); err != nil {
			return nil, "", err
		}
	}
	return body, form.FormDataContentType(), form.Close()
}
