package annal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Sender is what goes with every request; empty fields are left out.
type Sender struct {
	// Token is what SignIn answers.
	Token string
	// APIKey is a trusted service's.
	APIKey string
}

type contextKey int

const (
	idempotencyKey contextKey = iota
	attachedFile
)

type file struct {
	path, name string
	content    io.Reader
}

// WithIdempotencyKey makes a retry harmless: the same key is carried out once.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey, key)
}

// WithFile sends a file in the place of the null at a path, as in "variables.input.assetFile".
func WithFile(ctx context.Context, path, name string, content io.Reader) context.Context {
	return context.WithValue(ctx, attachedFile, file{path, name, content})
}

// URL is where the GraphQL door is.
func URL() string {
	if base := os.Getenv("ANNAL_URL"); base != "" {
		return base + "/graphql"
	}
	return "http://localhost:4000/graphql"
}

// NewClient makes a client for the generated functions.
func (sender Sender) NewClient() graphql.Client {
	return graphql.NewClient(URL(), sender)
}

// Do sends a request with what the sender and its context add to it.
func (sender Sender) Do(request *http.Request) (*http.Response, error) {
	if sender.Token != "" {
		request.Header.Set("Authorization", "token "+sender.Token)
	}
	if sender.APIKey != "" {
		request.Header.Set("X-Api-Key", sender.APIKey)
	}
	if key, ok := request.Context().Value(idempotencyKey).(string); ok {
		request.Header.Set("Idempotency-Key", key)
	}
	if file, ok := request.Context().Value(attachedFile).(file); ok {
		if err := file.attach(request); err != nil {
			return nil, err
		}
	}
	return http.DefaultClient.Do(request)
}

// attach makes a form of the request: operations, map, file.
func (file file) attach(request *http.Request) error {
	operations, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	places, err := json.Marshal(map[string][]string{"0": {file.path}})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	form.WriteField("operations", string(operations))
	form.WriteField("map", string(places))
	part, err := form.CreateFormFile("0", file.name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file.content); err != nil {
		return err
	}
	form.Close()
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("GraphQL-Require-Preflight", "true")
	request.Body = io.NopCloser(&body)
	request.ContentLength = int64(body.Len())
	return nil
}

// #region refusal

// RefusalOf tells why the server refused, and what else it says; an empty code when it is about something else.
func RefusalOf(err error) (ErrorCode, map[string]interface{}) {
	var list gqlerror.List
	if !errors.As(err, &list) || len(list) == 0 {
		return "", nil
	}
	code, _ := list[0].Extensions["code"].(string)
	return ErrorCode(code), list[0].Extensions
}

// #endregion

// #region follow

// Follow yields what a subscription tells, by server-sent events, until the loop is left. The generated function is for
// web sockets; its document and its types are not.
func Follow[Data any](ctx context.Context, sender Sender, query string, variables any, connected func()) iter.Seq2[Data, error] {
	return func(yield func(Data, error) bool) {
		var none Data
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			yield(none, err)
			return
		}
		request, err := http.NewRequestWithContext(ctx, "POST", URL(), bytes.NewReader(body))
		if err != nil {
			yield(none, err)
			return
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "text/event-stream")
		answer, err := sender.Do(request)
		if err != nil {
			yield(none, err)
			return
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			yield(none, fmt.Errorf("the stream was refused: %s", answer.Status))
			return
		}
		connected()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text, isData := strings.CutPrefix(lines.Text(), "data: ")
			if !isData || text == "" {
				continue
			}
			var message struct {
				Data   Data
				Errors gqlerror.List
			}
			if err := json.Unmarshal([]byte(text), &message); err != nil {
				yield(none, err)
				return
			}
			if len(message.Errors) > 0 {
				yield(none, message.Errors)
				return
			}
			if !yield(message.Data, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(none, err)
		}
	}
}

// #endregion
